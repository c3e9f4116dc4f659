/** Records of the kernel's log about processes that the kernel killed for lack of memory. Pure. */

/**
 * Returns the ids of the containers whose process the kernel killed, from a record of /dev/kmsg
 * (PRIORITY,SEQUENCE,MICROSECONDS,FLAGS;TEXT, Documentation/ABI/testing/dev-kmsg). The kernel writes the
 * record before it kills (mm/oom_kill.c, from Linux 5.0 on); it names the process's cgroup, which both of
 * Docker's cgroup drivers name by the container's id, for example:
 *
 *     6,900,5000,-;oom-kill:constraint=CONSTRAINT_MEMCG,…,task_memcg=/docker/ID,task=dd,pid=7,uid=0
 *
 * A kill in a nested container counts for both containers. Returns nothing for other records and for records
 * that a program wrote: only the kernel's own records have the facility 0.
 */
export function containersKilled(record: string): readonly string[] {
  const [, priority, group] =
    /^(\d{1,9}),\d+,\d+,[^;]*;oom-kill:[^\n]*?,task_memcg=([^,\n]*)/.exec(record) ?? [];
  if (priority === undefined || group === undefined || Number(priority) >> 3 !== 0) return [];
  return group.match(/(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])/g) ?? [];
}

/**
 * Returns the process that the kernel killed, from the record that it writes for every kill, also for those
 * beyond ten in five seconds, whose longer records it leaves out. The number belongs to the machine's own
 * process namespace. For example:
 *
 *     3,901,5001,-;Memory cgroup out of memory: Killed process 7 (dd) total-vm:207068kB, …
 */
export function processKilled(record: string): number | undefined {
  const [, priority, pid] =
    /^(\d{1,9}),\d+,\d+,[^;]*;(?:Memory cgroup out|Out) of memory[^:\n]*: Killed process (\d{1,9}) \(/.exec(
      record,
    ) ?? [];
  return priority === undefined || Number(priority) >> 3 !== 0 ? undefined : Number(pid);
}
