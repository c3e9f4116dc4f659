/** `ctl rollout`: shows and controls the rollout of a workload, and rolls it back. */
import type { JsonObject } from '../../apimachinery/equality.ts';
import { parseInt64 } from '../../apimachinery/int64.ts';
import { patchTypes } from '../../apimachinery/patch.ts';
import { rfc3339 } from '../../base/clock.ts';
import { UsageError } from '../../base/usage-error.ts';
import { beginWork } from '../../terminal/live-lines.ts';
import {
  chooseRevision,
  findRevision,
  isTemplateOf,
  patchTo,
  type Revision,
  revisionAsObject,
} from '../../views/revisions.ts';
import { rolloutState } from '../../views/rollout-state.ts';
import { isPaused, pausePatch, restartPatch } from '../../views/workload-changes.ts';
import type { Cluster } from '../connection/cluster.ts';
import { alignTabs } from '../describe/align.ts';
import { podTemplateLines } from '../describe/pod-template.ts';
import { inContext } from '../errors.ts';
import {
  type DryRun,
  dryRunFlag,
  dryRunOf,
  dryRunSuffix,
  type Flags,
  type FlagTable,
  fileFlags,
  selectorFlag,
} from '../flags/flags.ts';
import { printFlags } from '../flags/output-flags.ts';
import { fieldManagerOf, managerFlag, writeQuery } from '../flags/write-options.ts';
import { forEachReported } from '../for-each-reported.ts';
import { kindName } from '../objects/discovery.ts';
import { follow } from '../objects/follow.ts';
import { reportNothingIn } from '../objects/nothing-found.ts';
import { type ObjectTarget, targetPath } from '../objects/object-target.ts';
import { requireType, resolveObjects } from '../objects/targets.ts';
import { type ObjectFormat, printedFormat, typedFormat } from '../printers/object-format.ts';
import { TableWriter } from '../printers/table-writer.ts';
import { showPods } from '../progress/pod-progress.ts';
import { noteCause, noteWhenStill } from '../rollout/note-cause.ts';
import { revisionsOf } from '../rollout/read-revisions.ts';
import type { Verb, VerbContext, VerbGroup } from '../verb.ts';

const common = { ...selectorFlag, ...fileFlags } as const satisfies FlagTable;

/**
 * Resolves to the workloads; a type alone means all of them. If there are none, a message is printed, which
 * is no error.
 */
async function targetsOf(context: VerbContext): Promise<ObjectTarget[]> {
  requireType(context.flags);
  const targets = await resolveObjects(context);
  if (targets.length === 0) await reportNothingIn(context.cluster(), context.io);
  return targets;
}

const status: Verb = {
  about: 'wait until a rollout is complete',
  words: ['TYPE [NAME]', 'TYPE/NAME', '-f FILE'],
  examples: [
    'ctl rollout status deployment/web # wait until all pods have the new version',
    'ctl rollout status deployment/web --timeout=2m # give up after two minutes',
  ],
  flags: {
    ...common,
    watch: { type: 'boolean', short: 'w', on: true, about: 'wait until it is done' },
    timeout: { type: 'string', hint: 'DURATION', about: 'time to wait', usual: 'no limit' },
    revision: {
      type: 'string',
      hint: 'NUMBER',
      about: 'fail if the Deployment has another revision',
      usual: 'any',
    },
  },
  async run(context) {
    const revision = revisionOf(context.flags, 'revision');
    await forEachReported(context, await targetsOf(context), (target) =>
      waitForRollout(context, target, revision),
    );
  },
};

async function waitForRollout(context: VerbContext, target: ObjectTarget, revision: bigint): Promise<void> {
  const { flags, io } = context;
  const cluster = context.cluster();
  const timeoutMs = flags.duration('timeout');
  // A workload that does not exist is reported at once.
  await cluster.get(targetPath(target));
  using work = beginWork(io.progress, `${kindName(target.resource)}/${target.name}`);
  await using _showing = showPods(context, target, work);
  let printed = '';
  let last: JsonObject | undefined;
  using still = noteWhenStill(context, target, () => last);
  for await (const object of follow(cluster, target, { clock: io.clock, timeoutMs })) {
    if (!object) throw new Error('object has been deleted');
    const state = rolloutState({ ...object, kind: target.resource.kind }, revision);
    if (state.outcome === 'failed') {
      await noteCause(context, target, object);
      throw new Error(state.message);
    }
    if (state.message !== printed) io.out(`${state.message}\n`);
    printed = state.message;
    if (state.outcome === 'done' || !flags.on('watch')) return;
    last = object;
    still.moved();
  }
  await noteCause(context, target, last, still.noted());
  throw new Error('timed out waiting for the condition');
}

interface Change {
  /** Returns the patch that changes the workload, or a text with the reason why there is none. */
  patchOf(workload: JsonObject): object | string;
  /** The word that is printed afterwards. */
  readonly done: string;
}

/** Changes each workload and reports the result of each separately. */
async function changeEach(context: VerbContext, { patchOf, done }: Change): Promise<void> {
  const { io } = context;
  // A wrong format is one error, before anything is changed.
  printedFormat(context.flags);
  await forEachReported(context, await targetsOf(context), async (target) => {
    // A format of its own for each object: documents of YAML are not separated, as in kubectl.
    const format = await typedFormat(context);
    const { resource, name } = target;
    const cluster = context.cluster();
    const patch = patchOf({ ...(await cluster.get(targetPath(target))), kind: resource.kind });
    const group = resource.group && `.${resource.group}`;
    if (typeof patch === 'string') throw new Error(`${resource.plural}${group} "${name}" ${patch}`);
    const query = writeQuery('none', undefined, fieldManagerOf(context.flags));
    const after = await cluster.send('PATCH', targetPath(target) + query, patch, patchTypes.merge);
    io.out(format?.(after) ?? `${kindName(resource)}/${name} ${done}\n`);
  });
}

const changing = { ...common, ...printFlags, ...managerFlag } as const satisfies FlagTable;

const restart: Verb = {
  about: 'restart the pods of workloads, a few at a time',
  words: ['TYPE [NAME]', 'TYPE/NAME', 'TYPE -l SELECTOR', '-f FILE'],
  flags: changing,
  examples: [
    'ctl rollout restart deployment/web # replace all pods of a Deployment',
    'ctl rollout restart deployments -l app=web # restart those that have a label',
  ],
  run: (context) =>
    changeEach(context, {
      patchOf: (workload) => restartPatch(workload, rfc3339(context.io.clock.now())),
      done: 'restarted',
    }),
};

const pause: Verb = {
  about: 'pause the rollouts of Deployments: changes have no effect until resume',
  words: ['TYPE [NAME]', 'TYPE/NAME', '-f FILE'],
  flags: changing,
  examples: ['ctl rollout pause deployment/web # collect several changes'],
  run: (context) =>
    changeEach(context, {
      patchOf: (workload) => pausePatch(workload, true),
      done: 'paused',
    }),
};

const resume: Verb = {
  about: 'resume the rollouts of paused Deployments',
  words: ['TYPE [NAME]', 'TYPE/NAME', '-f FILE'],
  flags: changing,
  examples: ['ctl rollout resume deployment/web # roll out the changes'],
  run: (context) =>
    changeEach(context, {
      patchOf: (workload) => pausePatch(workload, false),
      done: 'resumed',
    }),
};

/** Returns the revision of a flag; 0 if the flag is not given. */
function revisionOf(flags: Flags, name: string): bigint {
  const text = flags.text(name) ?? '0';
  const wanted = parseInt64(text);
  if (wanted !== undefined && wanted >= 0n) return wanted;
  throw new UsageError(`--${name}: expected a whole number, 0 or more, got ${JSON.stringify(text)}`);
}

const history: Verb = {
  about: 'list the revisions of workloads, or show one',
  words: ['TYPE [NAME]', 'TYPE/NAME', '-f FILE'],
  examples: [
    'ctl rollout history deployment/web # list the revisions',
    'ctl rollout history deployment/web --revision=2 # show the pod template of one',
  ],
  flags: {
    ...common,
    ...printFlags,
    revision: {
      type: 'string',
      hint: 'NUMBER',
      about: 'show the pod template of this revision',
      usual: '0, the list',
    },
  },
  async run(context) {
    const { flags } = context;
    const wanted = revisionOf(flags, 'revision');
    const format = printedFormat(flags);
    await forEachReported(context, await targetsOf(context), (target) =>
      printHistory(context, target, wanted, format),
    );
  },
};

/** Prints the revisions of a workload, or the wanted one. */
async function printHistory(
  context: VerbContext,
  target: ObjectTarget,
  wanted: bigint,
  format: ObjectFormat | undefined,
): Promise<void> {
  const { io } = context;
  const cluster = context.cluster();
  const object = await cluster.get(targetPath(target));
  const all = await revisionsOf(cluster, target, object);
  // For a workload without revisions, --revision is no error, as in kubectl, unless -o is given.
  const isEmpty = all.length === 0 && !format;
  const one = isEmpty ? undefined : wantedRevision(all, wanted);
  const name = `${kindName(target.resource)}/${target.name}`;
  const whose = { ...object, kind: target.resource.kind };
  if (!format) io.out(`${name} ${historyText(context, all, one, wanted)}\n`);
  else for (const revision of one ? [one] : all) io.out(format(revisionAsObject(whose, revision)));
}

/** Returns undefined if `wanted` is 0. Throws if there is no such revision. */
function wantedRevision(all: readonly Revision[], wanted: bigint): Revision | undefined {
  if (wanted === 0n) return undefined;
  const one = findRevision(all, wanted);
  if (!one) throw new Error('unable to find the specified revision');
  return one;
}

function historyText(
  { palette }: VerbContext,
  all: readonly Revision[],
  one: Revision | undefined,
  wanted: bigint,
): string {
  const heading = wanted === 0n ? '' : `with revision #${wanted}`;
  if (one) return `${heading}\n${templateText(one)}`;
  if (all.length === 0) return `${heading}\nNo rollout history found.`;
  const rows = all.map(({ number, cause }) => [String(number), cause]);
  return `\n${new TableWriter(palette, 2).format(rows, ['REVISION', 'CHANGE-CAUSE'])}`;
}

const templateText = ({ template }: Revision) => `${alignTabs(podTemplateLines(template).join('\n'))}\n`;

const undo: Verb = {
  about: 'roll workloads back to an earlier revision',
  words: ['TYPE [NAME]', 'TYPE/NAME', '-f FILE'],
  examples: [
    'ctl rollout undo deployment/web # roll back to the revision before',
    'ctl rollout undo deployment/web --to-revision=2 # choose the revision',
  ],
  flags: {
    ...common,
    ...dryRunFlag,
    ...printFlags,
    'to-revision': {
      type: 'string',
      hint: 'NUMBER',
      about: 'revision to roll back to',
      usual: 'the previous revision',
    },
  },
  async run(context) {
    const wanted = revisionOf(context.flags, 'to-revision');
    const dryRun = dryRunOf(context.flags);
    const format = printedFormat(context.flags);
    await forEachReported(context, await targetsOf(context), async (target) => {
      const done = await rollBack(context.cluster(), target, wanted, dryRun);
      const line = `${kindName(target.resource)}/${target.name} ${done}${dryRunSuffix[dryRun]}\n`;
      context.io.out(format ? format(await context.cluster().get(targetPath(target))) : line);
    });
  },
};

/** Rolls one workload back to the revision, 0 for the one before; resolves to what was done, in words. */
async function rollBack(
  cluster: Cluster,
  target: ObjectTarget,
  wanted: bigint,
  dryRun: DryRun,
): Promise<string> {
  const object = { ...(await cluster.get(targetPath(target))), kind: target.resource.kind };
  const revision = chooseRevision(await revisionsOf(cluster, target, object), wanted);
  if (dryRun === 'client') return `will roll back to ${templateText(revision).trimEnd()}`;
  if (isPaused(object))
    throw new Error(
      'you cannot rollback a paused deployment; resume it first with "ctl rollout resume" and try again',
    );
  if (isTemplateOf(object, revision))
    return `skipped rollback (current template already matches revision ${revision.number})`;
  try {
    const path = targetPath(target) + writeQuery(dryRun);
    await cluster.send('PATCH', path, patchTo(object, revision), patchTypes.json);
  } catch (error) {
    throw inContext(error, `failed restoring revision ${revision.number}`);
  }
  return 'rolled back';
}

export const rollout: VerbGroup = {
  about: 'follow, pause, restart and undo the rollouts of Deployments, DaemonSets and StatefulSets',
  group: 'Deploy Commands',
  examples: [
    'ctl rollout status deployment/web # wait until all pods have the new version',
    'ctl rollout undo deployment/web # roll back to the revision before',
  ],
  verbs: { status, history, undo, pause, resume, restart },
};
