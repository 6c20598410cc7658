"""The native dispatcher as LLVM IR text: N ranks run one loop over the task table, a barrier ends each phase.

Jumps are followed by all ranks alike. Where a switch leads is read by rank 0 alone and published before a barrier: another
rank may be so late that the index is overwritten already. A host call makes all ranks leave; the executor starts the next
run behind it.

It is compiled like a kernel and lies in every blob. Ranks agree on everything through `gecc.runtime.abi`; which blocks
a rank computes is a table made at load, so the loop has no division and results do not depend on the number of ranks.

Waiting is the same everywhere: pause for a while, since the others are usually close, then give the CPU away (at a
barrier `sched_yield`, in an idle worker a futex), since with more ranks than CPUs the one waited for needs it.

An error leaves at a barrier, where all ranks decide alike: the last to arrive reads whether anyone failed and publishes
that with the release, so nobody acts on an error that came later.
"""

from __future__ import annotations

from gecc.errors import CodegenError
from gecc.runtime import abi
from gecc.target import Target

BARRIER_PAUSES = 1500
"""Pauses at a barrier before the CPU is given away."""

_SYSCALL_YIELD, _SYSCALL_FUTEX = 24, 202
_SYSCALL_SETAFFINITY, _SYSCALL_GETAFFINITY = 203, 204
_FUTEX_WAIT, _FUTEX_WAKE = 128, 129  # private to the process
_MASK_BYTES = 1024  # room for the mask of 8192 CPUs, Linux's greatest


def modules(target: Target) -> list[str]:
    """The dispatcher's modules: what runs an om, and what a process's pool of workers runs (see `abi.COPIED`).

    Raises CodegenError for a machine that the dispatcher was not written for.
    """
    if target.machine != "x86_64":
        raise CodegenError(f"the dispatcher is written for x86_64, not for {target.machine}")
    return [_DECLARATIONS + _SYSTEM + _BARRIER + _RANK + _RUN, _DECLARATIONS + _WORKER]


def _field(name: str, base: str, offset: int) -> str:
    return f"  %{name} = getelementptr i8, ptr %{base}, i64 {offset}\n"


def _load(name: str, base: str, offset: int, kind: str = "i64") -> str:
    return _field(f"{name}.at", base, offset) + f"  %{name} = load {kind}, ptr %{name}.at\n"


def _futex(result: str, word: str, operation: int, value: str) -> str:
    """An inline futex call: entries that are copied may not call a function beside them."""
    return f"""  %{result} = call i64 asm sideeffect "syscall",
    "={{rax}},{{rax}},{{rdi}},{{rsi}},{{rdx}},{{r10}},~{{rcx}},~{{r11}},~{{memory}}"
    (i64 {_SYSCALL_FUTEX}, ptr %{word}, i64 {operation}, i64 {value}, i64 0)
"""


def _published(result: str) -> str:
    """The word in which the target of a switch at barrier %epoch is published."""
    return f"""  %{result}.turn = and i64 %epoch, 1
  %{result}.offset = shl i64 %{result}.turn, 3
  %{result}.from = add i64 %{result}.offset, {abi.CONTROL_TARGETS}
  %{result} = getelementptr i8, ptr %control, i64 %{result}.from
"""


_DECLARATIONS = """
declare void @llvm.x86.sse2.pause()
declare void @llvm.x86.sse.stmxcsr(ptr)
declare void @llvm.x86.sse.ldmxcsr(ptr)
declare i64 @llvm.readcyclecounter()

attributes #0 = { nounwind }
"""

_SYSTEM = f"""
define internal void @yield() #0 {{
  %r = call i64 asm sideeffect "syscall", "={{rax}},{{rax}},~{{rcx}},~{{r11}},~{{memory}}"(i64 {_SYSCALL_YIELD})
  ret void
}}

define internal i64 @affinity(i64 %call, i64 %bytes, ptr %mask) #0 {{
  %r = call i64 asm sideeffect "syscall",
    "={{rax}},{{rax}},{{rdi}},{{rsi}},{{rdx}},~{{rcx}},~{{r11}},~{{memory}}"
    (i64 %call, i64 0, i64 %bytes, ptr %mask)
  ret i64 %r
}}

; Pause while `turns` is below the limit, then yield.
define internal void @relax(i64 %turns) #0 {{
  %early = icmp ult i64 %turns, {BARRIER_PAUSES}
  br i1 %early, label %pause, label %give
pause:
  call void @llvm.x86.sse2.pause()
  ret void
give:
  call void @yield()
  ret void
}}
"""

_BARRIER = f"""
; Wait for all ranks at barrier number %epoch (from 1). Returns whether to leave.
define internal i1 @barrier(ptr %control, i64 %ranks, i64 %epoch) #0 {{
  %arrived = getelementptr i8, ptr %control, i64 {abi.CONTROL_ARRIVED}
  %release = getelementptr i8, ptr %control, i64 {abi.CONTROL_RELEASE}
  %before = atomicrmw add ptr %arrived, i64 1 acq_rel
  %mine = add i64 %before, 1
  %all = mul i64 %ranks, %epoch
  %last = icmp eq i64 %mine, %all
  br i1 %last, label %open, label %wait
open:
  %failed.at = getelementptr i8, ptr %control, i64 {abi.CONTROL_FAILED}
  %failed = load atomic i64, ptr %failed.at monotonic, align 8
  %bad = icmp ne i64 %failed, 0
  %bit = zext i1 %bad to i64
  %twice = shl i64 %epoch, 1
  %word = or i64 %twice, %bit
  store atomic i64 %word, ptr %release release, align 8
  ret i1 %bad
wait:
  %turns = phi i64 [ 0, %0 ], [ %next, %relax ]
  %seen = load atomic i64, ptr %release acquire, align 8
  %passed = lshr i64 %seen, 1
  %through = icmp eq i64 %passed, %epoch
  br i1 %through, label %leave, label %relax
relax:
  call void @relax(i64 %turns)
  %next = add i64 %turns, 1
  br label %wait
leave:
  %low = trunc i64 %seen to i1
  ret i1 %low
}}
"""

_RANK = (
    """
; All tasks, as rank %rank.
define hidden void @gecc_rank(ptr %control, i64 %rank) #0 {
  %saved = alloca i32
  %ours = alloca i32
  call void @llvm.x86.sse.stmxcsr(ptr %saved)
"""
    + f"  store i32 {abi.MXCSR}, ptr %ours\n"
    + "  call void @llvm.x86.sse.ldmxcsr(ptr %ours)\n"
    + _load("tasks", "control", abi.CONTROL_TASKS, "ptr")
    + _load("count", "control", abi.CONTROL_TASK_COUNT)
    + _load("ranks", "control", abi.CONTROL_RANKS)
    + _load("shares", "control", abi.CONTROL_SHARES, "ptr")
    + _load("states", "control", abi.CONTROL_STATES, "ptr")
    + _load("profile", "control", abi.CONTROL_PROFILE, "ptr")
    + _load("first", "control", abi.CONTROL_START)
    + f"""
  %leader = icmp eq i64 %rank, 0
  %state.offset = mul i64 %rank, {abi.STATE_BYTES}
  %state = getelementptr i8, ptr %states, i64 %state.offset
  %share.rows = mul i64 %rank, %count
  %share.row = shl i64 %share.rows, 4
  %own.shares = getelementptr i8, ptr %shares, i64 %share.row
  %own.profile = getelementptr i8, ptr %profile, i64 %share.row
  %profiled = icmp ne ptr %profile, null
  %alone = icmp eq i64 %ranks, 1
"""
    + _load("scratch", "state", abi.STATE_SCRATCH, "ptr")
    + f"""
  br label %next
next:
  %i = phi i64 [ %first, %0 ], [ %i.next, %step ], [ %jump.to, %jump ], [ %switch.to, %switched ], [ %target, %alone.go ]
  %epoch = phi i64 [ 1, %0 ], [ %epoch.next, %step ], [ %epoch, %jump ], [ %epoch.switch, %switched ], [ %epoch, %alone.go ]
  %dead = phi i1 [ false, %0 ], [ %dead.next, %step ], [ %dead, %jump ], [ %dead, %switched ], [ %dead, %alone.go ]
  %more = icmp ult i64 %i, %count
  br i1 %more, label %look, label %halt
look:
  %record.offset = mul i64 %i, {abi.TASK_BYTES}
  %record = getelementptr i8, ptr %tasks, i64 %record.offset
"""
    + _load("flags", "record", abi.TASK_FLAGS)
    + f"""
  %kind = lshr i64 %flags, {abi.KIND_SHIFT}
  switch i64 %kind, label %task [ i64 {abi.TaskKind.NOTHING.value}, label %after
    i64 {abi.TaskKind.GOTO.value}, label %jump
    i64 {abi.TaskKind.SWITCH.value}, label %choose
    i64 {abi.TaskKind.HOST.value}, label %halt ]
jump:
"""
    + _load("jump.to", "record", abi.TASK_KERNEL)
    + """
  br label %next
choose:
  br i1 %leader, label %read, label %wait
read:
"""
    + _load("words", "record", abi.TASK_ARGS, "ptr")
    + _load("index.at", "words", 0, "ptr")
    + _load("index.bytes", "words", 8)
    + _load("targets.count", "words", 16)
    + """
  switch i64 %index.bytes, label %read.8 [ i64 1, label %read.1
    i64 4, label %read.4 ]
read.1:
  %byte = load i8, ptr %index.at
  %index.1 = zext i8 %byte to i64
  br label %chosen
read.4:
  %word.4 = load i32, ptr %index.at, align 1
  %index.4 = sext i32 %word.4 to i64
  br label %chosen
read.8:
  %index.8 = load i64, ptr %index.at, align 1
  br label %chosen
chosen:
  %index = phi i64 [ %index.1, %read.1 ], [ %index.4, %read.4 ], [ %index.8, %read.8 ]
  %inside = icmp ult i64 %index, %targets.count
  br i1 %inside, label %found, label %lost
found:
  %target.offset = shl i64 %index, 3
  %target.from = add i64 %target.offset, 24
  %target.at = getelementptr i8, ptr %words, i64 %target.from
  %target = load i64, ptr %target.at
  br i1 %alone, label %alone.go, label %publish
alone.go:
  br label %next
publish:
"""
    + _published("out")
    + """
  store i64 %target, ptr %out
  br label %wait
lost:
"""
    + _field("lost.value", "state", abi.STATE_VALUE)
    + "  store i64 %index, ptr %lost.value\n"
    + _field("lost.limit", "state", abi.STATE_LIMIT)
    + "  store i64 %targets.count, ptr %lost.limit\n"
    + _field("lost.task", "state", abi.STATE_TASK)
    + "  store i64 %i, ptr %lost.task\n"
    + _field("lost.error", "state", abi.STATE_ERROR)
    + f"  store i64 {abi.ErrorCode.SWITCH.value}, ptr %lost.error\n"
    + _field("lost.failed", "control", abi.CONTROL_FAILED)
    + """
  store atomic i64 1, ptr %lost.failed monotonic, align 8
  br i1 %alone, label %leave, label %wait
wait:
  %switch.quit = call i1 @barrier(ptr %control, i64 %ranks, i64 %epoch)
  br i1 %switch.quit, label %leave, label %switched
switched:
  %epoch.switch = add i64 %epoch, 1
"""
    + _published("in")
    + """
  %switch.to = load i64, ptr %in
  br label %next
task:
  %pair.offset = shl i64 %i, 4
  %pair = getelementptr i8, ptr %own.shares, i64 %pair.offset
  %begin = load i64, ptr %pair
  %end.at = getelementptr i8, ptr %pair, i64 8
  %end = load i64, ptr %end.at
  %some = icmp slt i64 %begin, %end
  %alive = xor i1 %dead, true
  %work = and i1 %some, %alive
  br i1 %work, label %ready, label %after
ready:
"""
    + _load("kernel", "record", abi.TASK_KERNEL, "ptr")
    + _load("args", "record", abi.TASK_ARGS, "ptr")
    + """
  br i1 %profiled, label %timed, label %plain
plain:
  call void %kernel(ptr %args, i64 %begin, i64 %end, ptr %scratch, ptr %state)
  br label %check
timed:
  %times = getelementptr i8, ptr %own.profile, i64 %pair.offset
  %stop.at = getelementptr i8, ptr %times, i64 8
  %earlier = load i64, ptr %stop.at
  %start = call i64 @llvm.readcyclecounter()
  call void %kernel(ptr %args, i64 %begin, i64 %end, ptr %scratch, ptr %state)
  %stop = call i64 @llvm.readcyclecounter()
  %again = icmp ne i64 %earlier, 0
  br i1 %again, label %longer, label %once
once:
  store i64 %start, ptr %times
  store i64 %stop, ptr %stop.at
  br label %check
longer:
  %took = sub i64 %stop, %start
  %stop.sum = add i64 %earlier, %took
  store i64 %stop.sum, ptr %stop.at
  br label %check
check:
"""
    + _load("error", "state", abi.STATE_ERROR)
    + """
  %bad = icmp ne i64 %error, 0
  br i1 %bad, label %fail, label %after
fail:
"""
    + _field("failed.at", "control", abi.CONTROL_FAILED)
    + "  store atomic i64 1, ptr %failed.at monotonic, align 8\n"
    + _field("task.at", "state", abi.STATE_TASK)
    + "  store i64 %i, ptr %task.at\n"
    + """
  br i1 %alone, label %leave, label %after
after:
  %dead.next = phi i1 [ %dead, %look ], [ %dead, %task ], [ false, %check ], [ true, %fail ]
"""
    + f"""
  %flag = and i64 %flags, {abi.FLAG_BARRIER}
  %ends = icmp ne i64 %flag, 0
  %together = xor i1 %alone, true
  %waits = and i1 %ends, %together
  br i1 %waits, label %meet, label %step
meet:
  %quit = call i1 @barrier(ptr %control, i64 %ranks, i64 %epoch)
  %epoch.after = add i64 %epoch, 1
  br i1 %quit, label %leave, label %step
step:
  %epoch.next = phi i64 [ %epoch, %after ], [ %epoch.after, %meet ]
  %i.next = add i64 %i, 1
  br label %next
halt:
  br i1 %leader, label %report, label %leave
report:
"""
    + _field("next.at", "control", abi.CONTROL_NEXT)
    + """
  store i64 %i, ptr %next.at
  br label %leave
leave:
  call void @llvm.x86.sse.ldmxcsr(ptr %saved)
  ret void
}
"""
)

_RUN = (
    """
define void @gecc_run(ptr %pool, ptr %control) #0 {
"""
    + f"  %mask = alloca [{_MASK_BYTES} x i8], align 8\n"
    + _load("ranks", "control", abi.CONTROL_RANKS)
    + _load("states", "control", abi.CONTROL_STATES, "ptr")
    + _load("pinned", "control", abi.CONTROL_MASK, "ptr")
    + _load("pinned.bytes", "control", abi.CONTROL_MASK_BYTES)
    + "".join(
        _field(name, "control", offset) + f"  store i64 0, ptr %{name}\n"
        for name, offset in (
            ("arrived", abi.CONTROL_ARRIVED),
            ("release", abi.CONTROL_RELEASE),
            ("failed", abi.CONTROL_FAILED),
        )
    )
    + """
  br label %clear
clear:
  %c = phi i64 [ 0, %0 ], [ %c.next, %clear ]
"""
    + f"  %state.offset = mul i64 %c, {abi.STATE_BYTES}\n"
    + "  %state = getelementptr i8, ptr %states, i64 %state.offset\n"
    + _field("error", "state", abi.STATE_ERROR)
    + "  store i64 0, ptr %error\n"
    + _field("task", "state", abi.STATE_TASK)
    + "  store i64 -1, ptr %task\n"
    + f"""
  %c.next = add i64 %c, 1
  %c.more = icmp ult i64 %c.next, %ranks
  br i1 %c.more, label %clear, label %cleared
cleared:
  %pins = icmp ne ptr %pinned, null
  br i1 %pins, label %pin, label %start
pin:
  %mask.bytes = call i64 @affinity(i64 {_SYSCALL_GETAFFINITY}, i64 {_MASK_BYTES}, ptr %mask)
  %known = icmp sgt i64 %mask.bytes, 0
  br i1 %known, label %pin.set, label %start
pin.set:
  %pin.result = call i64 @affinity(i64 {_SYSCALL_SETAFFINITY}, i64 %pinned.bytes, ptr %pinned)
  br label %start
start:
  %restore = phi i64 [ 0, %cleared ], [ 0, %pin ], [ %mask.bytes, %pin.set ]
  %helpers = sub i64 %ranks, 1
  %alone = icmp eq i64 %ranks, 1
  br i1 %alone, label %work, label %post
post:
"""
    + _field("done.reset", "pool", abi.POOL_DONE)
    + f"""
  store atomic i64 0, ptr %done.reset monotonic, align 8
  br label %send
send:
  %r = phi i64 [ 1, %post ], [ %r.next, %sent ]
  %box.offset = mul i64 %r, {abi.MAILBOX_BYTES}
  %box.from = add i64 %box.offset, {abi.POOL_BYTES}
  %box = getelementptr i8, ptr %pool, i64 %box.from
"""
    + _field("box.entry", "box", abi.MAILBOX_ENTRY)
    + "  store ptr @gecc_rank, ptr %box.entry\n"
    + _field("box.control", "box", abi.MAILBOX_CONTROL)
    + "  store ptr %control, ptr %box.control\n"
    + _field("generation", "box", abi.MAILBOX_GENERATION)
    + "  %was = atomicrmw add ptr %generation, i32 1 seq_cst\n"
    + _field("sleeping", "box", abi.MAILBOX_SLEEPING)
    + """
  %asleep = load atomic i32, ptr %sleeping seq_cst, align 4
  %wakes = icmp ne i32 %asleep, 0
  br i1 %wakes, label %wake, label %sent
wake:
"""
    + _futex("woken", "generation", _FUTEX_WAKE, "1")
    + """
  br label %sent
sent:
  %r.next = add i64 %r, 1
  %r.more = icmp ult i64 %r.next, %ranks
  br i1 %r.more, label %send, label %work
work:
  call void @gecc_rank(ptr %control, i64 0)
  br i1 %alone, label %finish, label %collect
collect:
"""
    + _field("done.at", "pool", abi.POOL_DONE)
    + f"""
  br label %wait
wait:
  %turns = phi i64 [ 0, %collect ], [ %turns.next, %relax ]
  %done = load atomic i64, ptr %done.at acquire, align 8
  %all = icmp eq i64 %done, %helpers
  br i1 %all, label %finish, label %relax
relax:
  call void @relax(i64 %turns)
  %turns.next = add i64 %turns, 1
  br label %wait
finish:
  %back = icmp ne i64 %restore, 0
  br i1 %back, label %unpin, label %end
unpin:
  %unpin.result = call i64 @affinity(i64 {_SYSCALL_SETAFFINITY}, i64 %restore, ptr %mask)
  br label %end
end:
  ret void
}}
"""
)

_WORKER = (
    """
define i64 @gecc_clock() #0 {
  %t = call i64 @llvm.readcyclecounter()
  ret i64 %t
}

define void @gecc_stop(ptr %pool, i64 %ranks) #0 {
"""
    + _field("stop", "pool", abi.POOL_STOP)
    + """
  store atomic i64 1, ptr %stop release, align 8
  br label %next
next:
  %r = phi i64 [ 1, %0 ], [ %r.next, %wake ]
  %more = icmp ult i64 %r, %ranks
  br i1 %more, label %wake, label %end
wake:
"""
    + f"""
  %box.offset = mul i64 %r, {abi.MAILBOX_BYTES}
  %box.from = add i64 %box.offset, {abi.POOL_BYTES}
  %box = getelementptr i8, ptr %pool, i64 %box.from
"""
    + _field("generation", "box", abi.MAILBOX_GENERATION)
    + "  %was = atomicrmw add ptr %generation, i32 1 seq_cst\n"
    + _futex("woken", "generation", _FUTEX_WAKE, "1")
    + """
  %r.next = add i64 %r, 1
  br label %next
end:
  ret void
}

define void @gecc_worker(ptr %pool, i64 %rank) #0 {
"""
    + f"""
  %box.offset = mul i64 %rank, {abi.MAILBOX_BYTES}
  %box.from = add i64 %box.offset, {abi.POOL_BYTES}
  %box = getelementptr i8, ptr %pool, i64 %box.from
"""
    + _field("generation", "box", abi.MAILBOX_GENERATION)
    + _field("sleeping", "box", abi.MAILBOX_SLEEPING)
    + _field("entry.at", "box", abi.MAILBOX_ENTRY)
    + _field("control.at", "box", abi.MAILBOX_CONTROL)
    + _field("done", "pool", abi.POOL_DONE)
    + _field("stop.at", "pool", abi.POOL_STOP)
    + _load("ticks", "pool", abi.POOL_SPIN)
    + """
  br label %idle
idle:
  %seen = phi i32 [ 0, %0 ], [ %now, %called ]
  %from = call i64 @llvm.readcyclecounter()
  br label %spin
spin:
  %spun = load atomic i32, ptr %generation acquire, align 4
  %new = icmp ne i32 %spun, %seen
  br i1 %new, label %go, label %spin.more
spin.more:
  call void @llvm.x86.sse2.pause()
  %time = call i64 @llvm.readcyclecounter()
  %elapsed = sub i64 %time, %from
  %over = icmp ugt i64 %elapsed, %ticks
  br i1 %over, label %doze, label %spin
doze:
  ; Who posts raises the generation, then looks whether we sleep; we say that we sleep, then look at the generation.
  %awake = atomicrmw xchg ptr %sleeping, i32 1 seq_cst
  %last = load atomic i32, ptr %generation seq_cst, align 4
  %late = icmp ne i32 %last, %seen
  br i1 %late, label %up, label %sleep
sleep:
  %expected = zext i32 %seen to i64
"""
    + _futex("slept", "generation", _FUTEX_WAIT, "%expected")
    + """
  %after = load atomic i32, ptr %generation seq_cst, align 4
  %woken = icmp ne i32 %after, %seen
  br i1 %woken, label %up, label %sleep
up:
  store atomic i32 0, ptr %sleeping seq_cst, align 4
  br label %go
go:
  %now = load atomic i32, ptr %generation acquire, align 4
  %stop = load atomic i64, ptr %stop.at acquire, align 8
  %stops = icmp ne i64 %stop, 0
  br i1 %stops, label %end, label %call
call:
  %entry = load ptr, ptr %entry.at
  %control = load ptr, ptr %control.at
  call void %entry(ptr %control, i64 %rank)
  br label %called
called:
  %counted = atomicrmw add ptr %done, i64 1 release
  br label %idle
end:
  ret void
}
"""
)
