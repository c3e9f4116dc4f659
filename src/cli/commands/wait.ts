/** `ctl wait`: waits, with a watch, until objects meet a condition. */
import type { JsonObject } from '../../apimachinery/equality.ts';
import { UsageError } from '../../base/usage-error.ts';
import { type Activity, beginWork } from '../../terminal/live-lines.ts';
import { type Flags, type FlagTable, fileFlags, selectorFlag } from '../flags/flags.ts';
import { printFlags } from '../flags/output-flags.ts';
import { forEachReported } from '../for-each-reported.ts';
import { kindName } from '../objects/discovery.ts';
import { follow } from '../objects/follow.ts';
import { type ObjectTarget, targetPath } from '../objects/object-target.ts';
import { requireSelection, resolveObjects } from '../objects/targets.ts';
import { printedFormat } from '../printers/object-format.ts';
import { shown as printable } from '../printers/table-writer.ts';
import { stateText } from '../progress/object-progress.ts';
import { isPod, showPods } from '../progress/pod-progress.ts';
import type { Verb, VerbContext } from '../verb.ts';
import { ObjectCauses } from '../why/object-cause.ts';
import { ruleBook } from '../why/rule-book.ts';
import { parseCondition, type WaitCondition } from './wait-condition.ts';

const flagTable = {
  for: {
    type: 'string',
    hint: 'CONDITION',
    about: "condition=NAME[=VALUE], delete, create, or jsonpath='{PATH}'[=VALUE]",
  },
  timeout: {
    type: 'string',
    hint: 'DURATION',
    about: 'time to wait for all objects; 0: check once; below 0: a week',
    usual: '30s',
  },
  ...fileFlags,
  ...selectorFlag,
  'field-selector': { type: 'string', hint: 'SELECTOR', about: 'only objects whose fields match' },
  all: { type: 'boolean', about: 'all objects of the type in the namespace' },
  'all-namespaces': { type: 'boolean', short: 'A', about: 'in all namespaces' },
  ...printFlags,
} as const satisfies FlagTable;

const defaultTimeoutMs = 30_000;
const weekMs = 7 * 24 * 3_600_000;

export const wait: Verb = {
  about: 'wait until objects have a condition or a value, exist, or are deleted',
  group: 'Advanced Commands',
  words: [
    'TYPE NAME... --for=CONDITION',
    'TYPE/NAME... --for=CONDITION',
    'TYPE (-l SELECTOR | --all) --for=CONDITION',
    '-f FILE --for=CONDITION',
  ],
  flags: flagTable,
  examples: [
    'ctl wait pod/web --for=condition=Ready # wait until a pod is ready',
    'ctl wait deployment/web --for=condition=Available --timeout=2m # give up after two minutes',
    "ctl wait pod/web --for=jsonpath='{.status.phase}'=Running # wait for the value of a field",
    'ctl wait pod/web --for=delete # wait until it is gone',
  ],
  async run(context) {
    const { flags } = context;
    const condition = readCondition(flags);
    const format = flags.text('output') === 'name' ? undefined : printedFormat(flags);
    const timeoutMs = timeoutOf(flags);
    requireSelection(flags);
    const targets = await resolveObjects(context);
    if (targets.length === 0 && condition.absent !== 'met') throw new Error('no matching resources found');
    const end = context.io.clock.now() + timeoutMs;
    await forEachReported(context, targets, async (target) => {
      const leftMs = Math.max(0, end - context.io.clock.now());
      const met = await waitFor(context, target, condition, { leftMs, isCheck: timeoutMs === 0 });
      if (met) report(context, target, format && met.object && format(met.object));
    });
  },
};

/** Returns the timeout in milliseconds; one below 0 means a week, as for kubectl. */
function timeoutOf(flags: Flags): number {
  const isNegative = flags.text('timeout')?.startsWith('-') === true;
  const given = isNegative ? flags.with('timeout', flags.text('timeout')?.slice(1) ?? '') : flags;
  const ms = given.duration('timeout') ?? defaultTimeoutMs;
  return isNegative && ms > 0 ? weekMs : ms;
}

/** Prints the object in the format of -o, or a line about it. */
function report({ io, flags }: VerbContext, { resource, name }: ObjectTarget, printed?: string): void {
  const what = `${kindName(resource)}/${name}`;
  if (printed !== undefined) io.out(printed);
  else io.out(flags.text('output') === 'name' ? `${what}\n` : `${what} condition met\n`);
}

function readCondition(flags: Flags): WaitCondition {
  const text = flags.text('for');
  if (!text) throw new UsageError('say what to wait for, such as --for=condition=Ready or --for=delete');
  return parseCondition(text);
}

/** The object that met the condition; its last state if it was deleted. */
interface Met {
  readonly object: JsonObject | undefined;
}

interface WaitTime {
  /** Rest of the timeout; 0 if it is over, when the object is still looked at once. */
  readonly leftMs: number;
  /** True if each object is looked at only once. */
  readonly isCheck: boolean;
}

/**
 * Rejects if the timeout is over, or if a required object is missing. Resolves to undefined if the object
 * never existed and may be missing, in which case kubectl prints nothing.
 */
async function waitFor(
  context: VerbContext,
  target: ObjectTarget,
  condition: WaitCondition,
  time: WaitTime,
): Promise<Met | undefined> {
  const cluster = context.cluster();
  const { absent } = condition;
  const what = `${target.resource.plural}/${target.name}`;
  using work = beginWork(context.io.progress, what);
  await using shown = showing(context, target, work);
  let looks = 0;
  let last: JsonObject | undefined;
  for await (const object of follow(cluster, target, { clock: context.io.clock, timeoutMs: time.leftMs })) {
    looks++;
    const result = resultOf(object, condition, looks === 1);
    last = object ?? last;
    if (result !== undefined) return metOrNone(result, last);
    shown.say(object);
    // The server's error describes best what is missing. One that is deleted later may be created again.
    if (!object && looks === 1 && absent === 'error') await cluster.get(targetPath(target));
    throwIfOver(time, absent, what);
  }
  if (last) await noteFirstCause(context, target, last);
  throw timedOut(absent, what);
}

const metOrNone = (result: boolean, object: JsonObject | undefined): Met | undefined =>
  result ? { object } : undefined;

/** Returns the result of the wait with this state of the object; undefined if the wait goes on. */
function resultOf(
  object: JsonObject | undefined,
  { absent, isMet }: WaitCondition,
  isFirst: boolean,
): boolean | undefined {
  if (object) return isMet(object) || undefined;
  return absent === 'met' ? !isFirst : undefined;
}

/** Throws the error of an object that has been looked at once, if there is no time to wait for it. */
function throwIfOver({ leftMs, isCheck }: WaitTime, absent: WaitCondition['absent'], what: string): void {
  if (leftMs === 0) throw isCheck ? notMetAtOnce(absent, what) : timedOut(absent, what);
}

/** Returns the error of a single check. */
const notMetAtOnce = (absent: WaitCondition['absent'], what: string) =>
  absent === 'not yet' ? timedOut(absent, what) : new Error(`condition not met for ${what}`);

const timedOut = (absent: WaitCondition['absent'], what: string) =>
  new Error(`timed out waiting for the condition${absent === 'not yet' ? '' : ` on ${what}`}`);

/**
 * Prints the first cause of the object's problem, like the end of its description; nothing if it has no
 * problem.
 */
async function noteFirstCause(
  { cluster, io }: VerbContext,
  target: ObjectTarget,
  object: JsonObject,
): Promise<void> {
  const isForProgram = io.calledAs === 'kubectl' && io.columns?.err === undefined;
  if (isForProgram || io.signal.aborted) return;
  const causes = new ObjectCauses(cluster(), await ruleBook(io.features));
  const cause = await causes.lineOf(target, object, io.clock.now());
  if (cause !== undefined) io.err(`Note: ${target.resource.plural}/${target.name}: ${printable(cause)}\n`);
}

interface Showing extends AsyncDisposable {
  say(object: JsonObject | undefined): void;
}

/** Shows what the object waits for; for a pod including the images that its node pulls. */
function showing(context: VerbContext, target: ObjectTarget, work: Activity): Showing {
  if (isPod(target)) return { ...showPods(context, target, work), say() {} };
  return {
    say: (object) => work.say(object ? stateText(object) : 'does not exist'),
    async [Symbol.asyncDispose]() {},
  };
}
