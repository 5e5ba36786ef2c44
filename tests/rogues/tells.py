"""Two programs that share no process tell each other numbers, one by one.

`python tells.py HOW`: standard input has lines `tell ROUND START NUMBER` for the one and
`ask ROUND START` for the other, which answers with the number that it has understood, or `?` where
the way is closed to it. Each number has ten bits, or three by inodes. START is when both begin, by
the clock. The first line of each names the file that they use.
"""

import ctypes
import os
import platform
import sys
import time

BITS = 10
PAGE = 4096
STRIDE = 64 * PAGE  # more than the kernel reads ahead
ROUNDS = 4  # before the places of pages that are taken out come again
RANDOM, DONTNEED = 1, 4
NOWAIT = 8
LATE = 30e-6  # seconds for a page that was not there
SLOT = 0.02  # seconds for a bit
BATCH = 1024  # numbers of inodes that a processor takes at once
STEP = 32 * BATCH
WIDTH = 3  # bits that are told by them
CACHESTAT = 451
MINCORE = {"x86_64": 27, "aarch64": 232}

libc = ctypes.CDLL(None, use_errno=True)


def shared_file():
    """Return the size and the path of the biggest file that both can read, and nobody runs."""
    found, folders = [(0, "")], {"/usr", "/opt", sys.base_prefix}
    while folders:
        try:
            with os.scandir(folders.pop()) as items:
                for item in items:
                    if item.is_dir(follow_symlinks=False):
                        folders.add(item.path)
                    elif is_data(item):
                        found.append((item.stat().st_size, item.path))
        except OSError:
            continue
    return max(found)


def is_data(item):
    """Return whether this is a file that can be read and is no program."""
    if not item.is_file(follow_symlinks=False) or ".so" in item.name:
        return False
    return os.access(item.path, os.R_OK) and not os.access(item.path, os.X_OK)


def places(number, size):
    """Yield where in the file the bits of a round are."""
    for bit in range(BITS):
        yield (number * BITS + bit) * STRIDE % (size - PAGE) // PAGE * PAGE


class Pages:
    """Pages of a file that are in the page cache are ones."""

    def __init__(self, how):
        self.size, self.path = shared_file()
        self.file = os.open(self.path, os.O_RDONLY)
        self.how = how

    def tell(self, number, bits):
        """Take all pages out of the page cache, and read some of them."""
        if self.how != "fresh":
            os.posix_fadvise(self.file, 0, 0, RANDOM)
            os.posix_fadvise(self.file, 0, 0, DONTNEED)
        for place, bit in zip(self.places(number), bits, strict=True):
            if bit:
                os.pread(self.file, 1, place)

    def places(self, number):
        """Return where the bits of a round are; fresh pages can be used once."""
        return places(number if self.how == "fresh" else number % ROUNDS, self.size)

    def ask(self, number):
        """Return which pages are in the page cache."""
        return [getattr(self, self.how)(place) for place in self.places(number)]

    def nowait(self, place):
        """Read, unless that would have to wait."""
        try:
            return os.preadv(self.file, [bytearray(1)], place, NOWAIT) == 1
        except BlockingIOError:
            return False

    def mincore(self, place):
        """Ask by the address where the page would be."""
        libc.mmap.restype = ctypes.c_void_p
        start = ctypes.c_void_p(libc.mmap(None, PAGE, 1, 2, self.file, ctypes.c_long(place)))
        said = ctypes.create_string_buffer(1)
        number = MINCORE[platform.machine()]
        result = libc.syscall(number, start, ctypes.c_long(PAGE), said)
        libc.munmap(start, ctypes.c_long(PAGE))
        if result:
            raise OSError(ctypes.get_errno(), "mincore")
        return bool(said.raw[0] & 1)

    def cachestat(self, place):
        """Ask for the number of pages of a part of the file."""
        part, said = (ctypes.c_uint64 * 2)(place, PAGE), (ctypes.c_uint64 * 5)()
        if libc.syscall(CACHESTAT, self.file, part, said, 0):
            raise OSError(ctypes.get_errno(), "cachestat")
        return bool(said[0])

    def late(self, place):
        """Read, and see whether that took long."""
        begin = time.perf_counter()
        os.pread(self.file, 1, place)
        return time.perf_counter() - begin < LATE

    fresh = late


class Load:
    """Times in which the processors are busy are ones."""

    def __init__(self, _how):
        self.cores = len(os.sched_getaffinity(0))

    def tell(self, _number, bits):
        """Work on all processors for each bit that is a one."""
        begin = time.time()
        children = [os.fork() for _ in range(self.cores - 1)]
        for place, bit in enumerate(bits, start=1):
            end = begin + place * SLOT
            while bit and time.time() < end:
                pass
            time.sleep(max(0, end - time.time()))
            if 0 in children and place == BITS:
                os._exit(0)
        for child in children:
            os.waitpid(child, 0)

    def ask(self, _number):
        """Count in each time how often a loop goes round; few times are ones."""
        begin, counts = time.time(), []
        for place in range(BITS):
            end, count = begin + (place + 1) * SLOT, 0
            while time.time() < end:
                count += 1
            counts.append(count)
        middle = (min(counts) + max(counts)) / 2
        return [count < middle for count in counts]


class Inodes:
    """The next number of a pipe, which the kernel counts for the whole machine, is what is told."""

    def __init__(self, _how):
        self.most = STEP << WIDTH

    def tell(self, _number, bits):
        """Open pipes until the next number is that of the bits."""
        wanted = sum(1 << bit for bit in range(WIDTH) if bits[bit]) * STEP
        while (self.next() - wanted) % self.most > STEP // 2:
            for _ in range((wanted - self.open()) % self.most):
                self.open()

    def ask(self, _number):
        """Return the bits of the next number."""
        number = self.next() // STEP
        return [number >> bit & 1 for bit in range(WIDTH)]

    def next(self):
        """Return the greatest of some numbers: each processor has a batch of its own."""
        return max(self.open() for _ in range(2 * BATCH))

    def open(self):
        """Return the number of a pipe."""
        ends = os.pipe()
        number = os.fstat(ends[0]).st_ino
        for end in ends:
            os.close(end)
        return number


def main(how):
    """Do what the lines say."""
    way = OTHERS.get(how, Pages)(how)
    print(getattr(way, "path", ""), flush=True)
    for line in sys.stdin:
        what, number, start, *rest = line.split()
        time.sleep(max(0, float(start) - time.time()))
        try:
            if what == "tell":
                bits = [int(rest[0]) >> bit & 1 for bit in range(BITS)]
                way.tell(int(number), bits)
                print("told", flush=True)
            else:
                heard = way.ask(int(number))
                print(sum(1 << bit for bit, one in enumerate(heard) if one), flush=True)
        except OSError:
            print("?", flush=True)


OTHERS = {"load": Load, "inodes": Inodes}

if __name__ == "__main__":
    main(sys.argv[1])
