"""Make the site: pages from the code, a gallery from real runs, and Sphinx over them and docs/.

What is here is used by `make docs` and its tests, and knows no page by heart but the four ways in.
"""
