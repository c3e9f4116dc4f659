/** `ctl rollout`: how a workload moves to its newest template, and back. */
import type { JsonObject } from '../../apimachinery/equality.ts';
import { parseInt64 } from '../../apimachinery/int64.ts';
import { patchTypes } from '../../apimachinery/patch.ts';
import { rfc3339 } from '../../base/clock.ts';
import { UsageError } from '../../base/usage-error.ts';
import type { Cluster } from '../cluster.ts';
import { findResource, kindName } from '../discovery.ts';
import { inContext } from '../errors.ts';
import { type FlagTable, fileFlags, selectorFlag } from '../flags.ts';
import { follow } from '../follow.ts';
import { metadataOf, podSelectorOf, recordAt, recordsAt, valueAt } from '../objects.ts';
import { TableWriter } from '../printers/table-writer.ts';
import { rolloutState } from '../rollout-state.ts';
import { listPath, type ObjectTarget, requireSelection, resolveObjects, targetPath } from '../targets.ts';
import type { Verb, VerbContext, VerbGroup } from '../verb.ts';
import { writeQuery } from '../write-options.ts';

const common = { ...selectorFlag, ...fileFlags } as const satisfies FlagTable;

async function targetsOf(context: VerbContext): Promise<ObjectTarget[]> {
  requireSelection(context.flags);
  return resolveObjects(context);
}

const status: Verb = {
  about: 'wait until a rollout is done',
  words: 'TYPE NAME',
  flags: {
    ...common,
    watch: { type: 'boolean', short: 'w', on: true, about: 'wait until it is done' },
    timeout: { type: 'string', hint: 'DURATION', about: 'how long to wait', usual: 'no limit' },
  },
  async run(context) {
    for (const target of await targetsOf(context)) await waitForRollout(context, target);
  },
};

async function waitForRollout(context: VerbContext, target: ObjectTarget): Promise<void> {
  const { flags, io } = context;
  const cluster = context.cluster();
  const timeoutMs = flags.duration('timeout');
  // A workload that does not exist is an error at once.
  await cluster.get(targetPath(target));
  let said = '';
  for await (const object of follow(cluster, target, { clock: io.clock, timeoutMs })) {
    if (!object) throw new Error('object has been deleted');
    const state = rolloutState({ ...object, kind: target.resource.kind });
    if (state.outcome === 'failed') throw new Error(state.message);
    if (state.message !== said) io.out(`${state.message}\n`);
    said = state.message;
    if (state.outcome === 'done' || !flags.on('watch')) return;
  }
  throw new Error('timed out waiting for the condition');
}

const restart: Verb = {
  about: 'replace all pods of a workload by new ones',
  words: 'TYPE NAME',
  flags: common,
  async run(context) {
    const { io } = context;
    const annotations = { 'kubectl.kubernetes.io/restartedAt': rfc3339(io.clock.now()) };
    const body = { spec: { template: { metadata: { annotations } } } };
    for (const target of await targetsOf(context)) {
      const cluster = context.cluster();
      if (valueAt(await cluster.get(targetPath(target)), 'spec', 'template') === undefined)
        throw new Error(`${target.resource.plural} "${target.name}" restarting is not supported`);
      const path = targetPath(target) + writeQuery('none');
      await cluster.send('PATCH', path, body, patchTypes.merge);
      io.out(`${kindName(target.resource)}/${target.name} restarted\n`);
    }
  },
};

const revisionAnnotation = 'deployment.kubernetes.io/revision';
const causeAnnotation = 'kubernetes.io/change-cause';

interface Revision {
  readonly number: bigint;
  readonly cause: string;
  readonly object: JsonObject;
}

/** The replica sets that a deployment made, oldest first. */
async function revisionsOf(cluster: Cluster, target: ObjectTarget, object: JsonObject): Promise<Revision[]> {
  if (target.resource.kind !== 'Deployment')
    throw new Error(`no history viewer has been implemented for ${kindName(target.resource)}`);
  const resource = findResource(await cluster.resources(), 'replicasets.apps');
  const { namespace } = target;
  const labelSelector = podSelectorOf(object);
  const list = await cluster.get(listPath({ resource, namespace, labelSelector, fieldSelector: undefined }));
  const { uid } = metadataOf(object);
  return recordsAt(list, 'items')
    .filter((item) => recordsAt(item, 'metadata', 'ownerReferences').some((owner) => owner.uid === uid))
    .map((item) => {
      const { annotations } = metadataOf(item);
      return {
        number: parseInt64(annotations[revisionAnnotation]) ?? 0n,
        cause: annotations[causeAnnotation] ?? '<none>',
        object: item,
      };
    })
    .filter(({ number }) => number > 0n)
    .sort((a, b) => (a.number < b.number ? -1 : 1));
}

const history: Verb = {
  about: 'list the revisions of a deployment',
  words: 'TYPE NAME',
  flags: common,
  async run(context) {
    for (const target of await targetsOf(context)) {
      const cluster = context.cluster();
      const revisions = await revisionsOf(cluster, target, await cluster.get(targetPath(target)));
      const rows = revisions.map(({ number, cause }) => [String(number), cause]);
      const table = new TableWriter(context.palette).format(rows, ['REVISION', 'CHANGE-CAUSE']);
      context.io.out(`${kindName(target.resource)}/${target.name} \n${table}\n`);
    }
  },
};

const undo: Verb = {
  about: 'go back to an earlier revision of a deployment',
  words: 'TYPE NAME',
  flags: {
    ...common,
    'to-revision': {
      type: 'string',
      hint: 'NUMBER',
      about: 'the revision to go back to',
      usual: 'the one before',
    },
  },
  async run(context) {
    const text = context.flags.text('to-revision') ?? '0';
    const wanted = parseInt64(text);
    if (wanted === undefined || wanted < 0n)
      throw new UsageError(`--to-revision: expected a whole number, 0 or more, got ${JSON.stringify(text)}`);
    for (const target of await targetsOf(context)) {
      const cluster = context.cluster();
      const object = await cluster.get(targetPath(target));
      const revision = chooseRevision(await revisionsOf(cluster, target, object), wanted);
      const body = [{ op: 'replace', path: '/spec/template', value: templateOf(revision.object) }];
      try {
        const path = targetPath(target) + writeQuery('none');
        await cluster.send('PATCH', path, body, patchTypes.json);
      } catch (error) {
        throw inContext(error, `failed restoring revision ${revision.number}`);
      }
      context.io.out(`${kindName(target.resource)}/${target.name} rolled back\n`);
    }
  },
};

function chooseRevision(revisions: readonly Revision[], wanted: bigint): Revision {
  const found = wanted > 0n ? revisions.find(({ number }) => number === wanted) : revisions.at(-2);
  if (found) return found;
  throw new Error(
    wanted > 0n
      ? `unable to find specified revision ${wanted} in history`
      : 'no rollout history found: there is no earlier revision',
  );
}

/** The pod template without the label by which its replica set tells its pods apart. */
function templateOf(replicaSet: JsonObject): JsonObject {
  const template = recordAt(replicaSet, 'spec', 'template');
  const metadata = recordAt(template, 'metadata');
  const { 'pod-template-hash': _, ...labels } = recordAt(metadata, 'labels');
  return { ...template, metadata: { ...metadata, labels } };
}

export const rollout: VerbGroup = {
  about: 'follow, restart and undo the rollout of a workload',
  kubectlOnly: ['pause', 'resume'],
  verbs: { status, restart, history, undo },
};
