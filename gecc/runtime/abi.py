"""The native calling convention: what compiled code, the generated dispatcher and the executor agree on.

Every layout is here and nowhere else. All fields are 64-bit words at the byte offsets given unless said otherwise; all
structures are aligned to `ALIGNMENT`. A change that code made before would misread needs another `ABI`.

A kernel is `void k(const i64 *args, i64 block_begin, i64 block_end, i8 *scratch, i8 *state)` in the C convention of
the machine. `args` holds the addresses of its operands (inputs, then outputs), then its integer parameters. It computes
the blocks `block_begin <= b < block_end` and loops over them itself; blocks of one launch are independent. `scratch` is
memory of this rank alone, not kept between calls. A checked kernel (`gecc.passes.tile.to_llvm.checks`) finds behind the
parameters the bytes of each operand, then of the scratch; others do not look there. A kernel that meets a bad value
stores an error code and what explains it in `state` (`STATE_ERROR` last) and returns.

    the process's worker pool               one executor
    +---------+------------+-- ..          +---------+     task records   shares of rank 0   states
    | pool    | mailbox 1  |               | control | --> [kernel, args] [begin, end]       [error.., scratch] x ranks
    +---------+------------+-- ..          +---------+     ...            ...
"""

from __future__ import annotations

from enum import IntEnum

ABI = 2
"""Number of this convention. An om file states the one it was made for. 2 added jumps and host calls to 1."""

ALIGNMENT = 64
"""Alignment in bytes of structures, arena, weights and scratch: a cache line."""

# Entries of the dispatcher in every kernel blob.
RUN = "gecc_run"
"""`void gecc_run(pool *, control *)`: run all tasks as rank 0, with ranks - 1 workers of the pool. The pool may be null
when the control block says one rank. Returns when every rank is done."""
WORKER = "gecc_worker"
"""`void gecc_worker(pool *, i64 rank)`: wait for work in mailbox `rank` until told to stop. Position-independent by
itself: the pool copies its bytes, so that they outlive the blob."""
STOP = "gecc_stop"
"""`void gecc_stop(pool *, i64 ranks)`: make workers 1 .. ranks - 1, all idle, return. Copied like the worker."""
CLOCK = "gecc_clock"
"""`i64 gecc_clock(void)`: the counter that profiles and spinning use. Copied like the worker."""
COPIED = (WORKER, STOP, CLOCK)
"""Entries that refer to nothing outside themselves."""
ENTRIES = (RUN, *COPIED)
"""All entries that a blob must have."""

# Pool: a head, then one mailbox a rank (that of rank 0 stays unused).
POOL_DONE = 0
"""Workers that finished the run at hand."""
POOL_SPIN = 64
"""Clock ticks that an idle worker spins before it sleeps."""
POOL_STOP = 72
"""Not zero: a worker that wakes returns."""
POOL_BYTES = 128
MAILBOX_GENERATION = 0
"""32 bits: counts the calls of this worker. What a sleeping worker waits on."""
MAILBOX_SLEEPING = 4
"""32 bits: not zero while the worker sleeps or is about to."""
MAILBOX_ENTRY = 8
"""Address of `void entry(control *, i64 rank)` to call."""
MAILBOX_CONTROL = 16
"""Its first argument."""
MAILBOX_BYTES = 128

# Control block: one an executor.
CONTROL_TASKS = 0
"""Address of the task records."""
CONTROL_TASK_COUNT = 8
CONTROL_SHARES = 16
"""Address of i64 [ranks][tasks][2]: the blocks begin, end that a rank computes of a task."""
CONTROL_RANKS = 24
CONTROL_STATES = 32
"""Address of the ranks' states."""
CONTROL_PROFILE = 40
"""Address of i64 [ranks][tasks][2], zero when a run begins, where each rank notes the clock before and after a task; a task
that runs again, in a loop, moves the second on by the time it takes. Zero: no profile."""
CONTROL_MASK = 48
"""Address of the CPU mask that the caller takes during the run; zero: it keeps its own."""
CONTROL_MASK_BYTES = 56
CONTROL_ARRIVED = 64
"""Arrivals at barriers in this run."""
CONTROL_RELEASE = 128
"""Twice the number of barriers passed, plus one when all ranks shall leave."""
CONTROL_FAILED = 192
"""Not zero once any rank met an error."""
CONTROL_START = 200
"""Index of the task at which a run starts."""
CONTROL_NEXT = 208
"""Set by rank 0 before it leaves: index of the host call at which all ranks stopped, or the number of tasks."""
CONTROL_TARGETS = 216
"""Two words, used in turn, in which rank 0 publishes where a switch leads: a rank may still read the one before."""
CONTROL_GEAR = 248
"""The number of the gear of the run, for the switch that begins a model with gears. Code finds it by its address."""
CONTROL_BYTES = 256

# Task record.
TASK_KERNEL = 0
"""Address of the kernel. Of a goto: index of the task to go on with."""
TASK_ARGS = 8
"""Address of its argument words. Of a switch: address of the index, its bytes, count of targets, the targets as indices
of tasks."""
TASK_FLAGS = 16
TASK_BYTES = 32
FLAG_BARRIER = 1
"""All ranks meet after this task."""
KIND_SHIFT = 8
"""Bits of the flags from here on are the kind of the task."""


class TaskKind(IntEnum):
    """What the dispatcher does with a task."""

    KERNEL = 0
    NOTHING = 1
    GOTO = 2
    SWITCH = 3
    """Rank 0 reads the index, publishes the target, all meet."""
    HOST = 4
    """All ranks leave."""


# State of a rank, what a kernel gets as its last argument.
STATE_ERROR = 0
"""Zero, or a code of `ErrorCode`."""
STATE_VALUE = 8
"""The bad value."""
STATE_LIMIT = 16
"""What bounds it."""
STATE_TASK = 24
"""Index of the task that failed, -1 without an error. Written by the dispatcher."""
STATE_SCRATCH = 32
"""Address of the rank's scratch."""
STATE_STEPS = 40
"""Where a checked kernel counts down the steps of its loops."""
STATE_BYTES = 128

MAX_STEPS = 1 << 38
"""Most steps of loops in one call of a checked kernel, a minute or more. A step of lanes counts one for each element."""

MXCSR = 0x1F80
"""Floating-point state of every rank on x86: round to nearest, denormal numbers as IEEE 754 has them, no traps."""


class ErrorCode(IntEnum):
    """What a kernel may complain of. `text` is a format string of (value, limit)."""

    INDEX = 1
    """An index `value` as the model gave it, outside -limit <= value < limit."""
    DIVISION = 2
    """An integer division by zero."""
    SWITCH = 3
    """The index `value` of a switch, outside 0 <= value < limit."""
    BOUNDS = 4
    """An access outside operand `value` (-1: the scratch) of `limit` bytes. Of checked kernels."""
    LOOP = 5
    """A loop whose step is below 1, or whose bounds or step are no sane numbers. Of checked kernels."""
    STEPS = 6
    """More steps of loops in one call than checked kernels may take."""

    @property
    def text(self) -> str:
        """The message, to be formatted with value, limit, -limit as low and what `value` names as place."""
        return {
            ErrorCode.INDEX: "index {value} is out of range, expected {low} <= index < {limit}",
            ErrorCode.DIVISION: "integer division by zero",
            ErrorCode.SWITCH: "branch {value} does not exist, expected 0 <= branch < {limit}",
            ErrorCode.BOUNDS: "an access outside {place} of {limit} bytes",
            ErrorCode.LOOP: "a loop with a step below 1, or with bounds or a step beyond 2^62",
            ErrorCode.STEPS: "loops of more than {limit} steps",
        }[self]


def describe(code: int, value: int, limit: int) -> str:
    """The message for an error that a kernel stored in its state."""
    if code not in ErrorCode.__members__.values():
        return f"unknown error code {code} (value {value}, limit {limit})"
    place = f"operand {value}" if value >= 0 else "the scratch"
    return ErrorCode(code).text.format(value=value, limit=limit, low=-limit, place=place)
