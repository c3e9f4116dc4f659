/** `ctl taint`: sets and removes taints of nodes. */
import type { JsonObject } from '../../apimachinery/equality.ts';
import { patchTypes } from '../../apimachinery/patch.ts';
import { isConflict } from '../../apimachinery/status-error.ts';
import { UsageError } from '../../base/usage-error.ts';
import type { Cluster } from '../connection/cluster.ts';
import {
  type DryRun,
  dryRunFlag,
  dryRunOf,
  type Flags,
  type FlagTable,
  selectorFlag,
} from '../flags/flags.ts';
import { printFlags } from '../flags/output-flags.ts';
import {
  fieldManagerOf,
  fieldValidationOf,
  managerFlag,
  validateFlag,
  writeQuery,
} from '../flags/write-options.ts';
import { forEachReported } from '../for-each-reported.ts';
import { changeTaints, parseTaintWords, type TaintChanges, type TaintOutcome } from '../nodes/taint-plan.ts';
import { findResource } from '../objects/discovery.ts';
import { type ObjectTarget, targetPath } from '../objects/object-target.ts';
import { metadataOf, recordsAt, textAt } from '../objects/objects.ts';
import { resolveObjects } from '../objects/targets.ts';
import { printedFormat } from '../printers/object-format.ts';
import type { Verb } from '../verb.ts';

const flagTable = {
  overwrite: { type: 'boolean', about: 'also change a taint that is already set' },
  all: { type: 'boolean', about: 'all nodes' },
  ...selectorFlag,
  ...dryRunFlag,
  ...printFlags,
  ...managerFlag,
  ...validateFlag,
} as const satisfies FlagTable;

export const taint: Verb = {
  about: 'set or remove taints of nodes',
  group: 'Cluster Management Commands',
  words: ['node NAME... KEY=VALUE:EFFECT...', 'node NAME... KEY[:EFFECT]-...'],
  flags: flagTable,
  examples: [
    'ctl taint node n1 dedicated=gpu:NoSchedule # keep pods without a toleration away',
    'ctl taint node n1 dedicated- # remove the taint',
  ],
  async run(context) {
    const { flags, io } = context;
    const { words, ...changes } = parseTaintWords(flags.words);
    requireNodes(flags, words);
    const cluster = context.cluster();
    const type = words[0] ?? '';
    const { plural, group } = findResource(await cluster.resources(), type);
    if (plural !== 'nodes' || group !== '')
      throw new UsageError(`invalid resource type ${type}, only node types are supported`);
    const dryRun = dryRunOf(flags);
    const query = writeQuery(dryRun, fieldValidationOf(flags), fieldManagerOf(flags));
    const format = printedFormat(flags);
    await forEachReported(context, await resolveObjects(context, words), async (target) => {
      const { done } = await taintNode(cluster, target, changes, flags.on('overwrite'), { dryRun, query });
      io.out(format ? format(await cluster.get(targetPath(target))) : `node/${target.name} ${done}\n`);
    });
  },
};

function requireNodes(flags: Flags, words: readonly string[]): void {
  const selected = flags.given('selector');
  if (selected && flags.on('all'))
    throw new UsageError("setting 'all' parameter with a non empty selector is prohibited");
  if (words.length < 2 && !selected && !flags.on('all'))
    throw new UsageError("at least one resource name must be specified since 'all' parameter is not set");
}

const maxTries = 10;

/**
 * Changes the taints of a node. Controllers write taints too, and a write replaces the whole list, so it must
 * be based on the version that was read.
 */
async function taintNode(
  cluster: Cluster,
  target: ObjectTarget,
  changes: TaintChanges,
  overwrite: boolean,
  { dryRun, query }: { readonly dryRun: DryRun; readonly query: string },
): Promise<TaintOutcome<TaintRecord>> {
  for (let tries = 1; ; tries++) {
    const node = await cluster.get(targetPath(target));
    const outcome = changeTaints(target.name, taintsOf(node), changes, overwrite);
    if (dryRun === 'client') return outcome;
    try {
      const body = patchOf(node, outcome);
      await cluster.send('PATCH', targetPath(target) + query, body, patchTypes.merge);
      return outcome;
    } catch (error) {
      if (!isConflict(error) || tries >= maxTries) throw error;
    }
  }
}

/** Returns a patch that the server rejects if the node was changed since it was read. */
function patchOf(node: JsonObject, { taints }: TaintOutcome<TaintRecord>): JsonObject {
  const { resourceVersion } = metadataOf(node);
  return { metadata: { resourceVersion }, spec: { taints: taints.length > 0 ? taints : null } };
}

type TaintRecord = ReturnType<typeof taintsOf>[number];

/** Returns the taints with all fields that the server has. */
function taintsOf(node: Parameters<typeof recordsAt>[0]) {
  return recordsAt(node, 'spec', 'taints').map((record) => ({
    ...record,
    key: textAt(record, 'key'),
    effect: textAt(record, 'effect'),
  }));
}
