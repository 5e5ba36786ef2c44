"""The settings of the site; `make docs` puts this file beside the pages that it has staged."""

from importlib.metadata import version as version_of
from pathlib import Path

project = "District Noir Arena"
copyright = "the District Noir Arena authors"
author = copyright
release = version_of("district-noir-arena")
version = release

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx_click",
    "sphinx_copybutton",
    "docs.making.commands",
    "docs.making.versions",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["examples/**", "cluster/**"]
myst_heading_anchors = 4
default_role = "literal"
nitpick_ignore_regex = [("py:class", ".*")]  # of signatures: other libraries, and types of ours
smartquotes = False  # --pairs has two hyphens
python_maximum_signature_line_length = 80
copybutton_prompt_text = r">>> |\.\.\. "
copybutton_prompt_is_regexp = True
html_theme = "pydata_sphinx_theme"
html_title = project
html_extra_path = ["extra"]
html_static_path = ["static"]
html_css_files = ["site.css"]
html_js_files = ["search.js"]
html_search_scorer = str(Path(__file__).parent / "static" / "scorer.js")
html_show_sourcelink = False
html_copy_source = False
html_show_search_summary = False  # it is fetched, which a page from a file may not do
html_sidebars = {"gallery/index": [], "index": []}
html_context = {"default_mode": "auto"}
html_theme_options = {
    "logo": {"text": project},
    "navbar_end": ["version-switcher", "theme-switcher"],
    "navbar_align": "left",
    "check_switcher": False,
    "show_prev_next": False,
    "show_toc_level": 2,
    "footer_start": ["copyright"],
    "footer_end": [],
}
