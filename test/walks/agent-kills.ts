/**
 * Kills the agent or its engine before, during and after each call that the agent makes to the engine from a
 * pod's creation to its end. Prints a line for each kill; continues after an incorrect result.
 */
import { moments } from '../e2e/harness/engine-proxy.ts';
import { KillWalk, type Outcome, type Victim } from '../e2e/harness/kill-walk.ts';

export interface AgentKillOptions {
  /** The processes to kill, one after the other. */
  readonly chosen: readonly Victim[];
  /** Numbers of the first and the last call. */
  readonly from: number;
  readonly to: number;
  /** Distance between the calls at which a kill happens. */
  readonly every: number;
}

const say = (line: string) => void process.stdout.write(`${line}\n`);
const closers: (() => Promise<void>)[] = [];
const failures: string[] = [];

const eventsOf = ({ events }: Outcome) =>
  [...events].map(([reason, { objects, times }]) => `${reason} ${times}/${objects}`).join(', ');

/** Returns the maximum number of events of each reason in one step: times, and objects. */
function worst(outcomes: readonly Outcome[]): string {
  const most = new Map<string, { times: number; objects: number }>();
  for (const { events } of outcomes)
    for (const [reason, { times, objects }] of events) {
      const before = most.get(reason) ?? { times: 0, objects: 0 };
      most.set(reason, {
        times: Math.max(before.times, times),
        objects: Math.max(before.objects, objects),
      });
    }
  return [...most].map(([reason, { times, objects }]) => `${reason} ${times}/${objects}`).join(', ');
}

async function walk(victim: Victim, { from, to, every }: AgentKillOptions): Promise<void> {
  const scope = { after: (fn: () => Promise<void>) => void closers.push(fn) };
  let pods = await KillWalk.start(scope, victim);
  const outcomes: Outcome[] = [];
  let over = false;
  for (let at = from; at <= to && !over; at += every) {
    for (const moment of moments) {
      const began = performance.now();
      try {
        const outcome = await pods.step({ moment, at });
        over ||= outcome === undefined;
        if (!outcome) break;
        outcomes.push(outcome);
        const seconds = ((performance.now() - began) / 1000).toFixed(1);
        say(
          `${victim} ${at} ${moment} ${outcome.call}: ${outcome.story.join(' ')}; ${seconds} s; ${eventsOf(outcome)}`,
        );
      } catch (error) {
        failures.push(String(error));
        say(`FAILED ${String(error)}`);
        // The next kill starts on a machine of its own.
        for (const close of closers.splice(0)) await close();
        pods = await KillWalk.start(scope, victim);
      }
    }
  }
  say(`${victim}: ${outcomes.length} steps; of one pod at most (times/objects): ${worst(outcomes)}`);
}

/** Resolves to true if there was no fault. */
export async function walkAgent(options: AgentKillOptions): Promise<boolean> {
  try {
    for (const victim of options.chosen) {
      await walk(victim, options);
      for (const close of closers.splice(0)) await close();
    }
  } finally {
    for (const close of closers.splice(0)) await close();
  }
  say(failures.length === 0 ? 'all as it has to be' : `${failures.length} failed`);
  return failures.length === 0;
}
