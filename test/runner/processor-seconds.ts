/**
 * Processor time of tests. It hardly depends on what else runs on the machine, unlike the duration of a test.
 */
import { readFileSync } from 'node:fs';

/** Ticks per second in /proc: the same in every kernel that Node supports. */
const ticksPerSecond = 100;

/**
 * Returns the processor time in seconds that this process has used so far, with that of its children that
 * ended and of theirs. Containers belong to the engine, and a child whose parent was killed belongs to
 * process 1: both are left out.
 */
export function usedSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000_000 + secondsOfChildren(readFileSync('/proc/self/stat', 'utf8'));
}

/** Returns cutime and cstime of a process from its /proc/PID/stat, in seconds. */
export function secondsOfChildren(stat: string): number {
  // The name of the program, in brackets, may contain spaces and brackets.
  const [, , , , , , , , , , , , , user, system] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(user) + Number(system)) / ticksPerSecond;
}

/** Returns the processor time in seconds that this machine has used since its start. */
export function machineSeconds(): number {
  return busySeconds(readFileSync('/proc/stat', 'utf8'));
}

/** Returns the first line of /proc/stat in seconds, without the time that processors were idle or waited. */
export function busySeconds(stat: string): number {
  const [, user, nice, system, , , irq, softirq] = stat.slice(0, stat.indexOf('\n')).split(/\s+/);
  return [user, nice, system, irq, softirq].reduce((sum, ticks) => sum + Number(ticks), 0) / ticksPerSecond;
}
