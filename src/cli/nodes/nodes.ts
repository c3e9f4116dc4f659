/** Shared code of commands about nodes: selecting nodes, and cordoning them. */
import type { JsonObject } from '../../apimachinery/equality.ts';
import { patchTypes } from '../../apimachinery/patch.ts';
import { UsageError } from '../../base/usage-error.ts';
import { cordonPatch } from '../../views/workload-changes.ts';
import {
  type DryRun,
  dryRunFlag,
  dryRunOf,
  dryRunSuffix,
  type FlagTable,
  selectorFlag,
} from '../flags/flags.ts';
import { writeQuery } from '../flags/write-options.ts';
import { forEachReported } from '../for-each-reported.ts';
import { type ObjectTarget, targetPath } from '../objects/object-target.ts';
import { valueAt } from '../objects/objects.ts';
import { resolveObjects } from '../objects/targets.ts';
import type { VerbContext } from '../verb.ts';

export const nodeFlags = { ...selectorFlag, ...dryRunFlag } as const satisfies FlagTable;

export interface NodeTarget {
  readonly target: ObjectTarget;
  readonly node: JsonObject;
}

/**
 * Returns the named or selected nodes, as they are now. Rejects if one does not exist: nothing is done then.
 */
export async function nodesOf(context: VerbContext, verb: string): Promise<NodeTarget[]> {
  const { flags } = context;
  const { words } = flags;
  const selected = flags.given('selector');
  if (words.length === 0 && !selected)
    throw new UsageError(`ctl ${verb}: say which node: NODE or -l SELECTOR`);
  if (words.length > 0 && selected)
    throw new UsageError('cannot specify both a node name and a --selector option');
  const named = words.map((word) => (word.includes('/') ? word : `node/${word}`));
  const targets = await resolveObjects(context, selected ? ['nodes'] : named);
  const other = targets.find(({ resource }) => resource.plural !== 'nodes' || resource.group !== '');
  if (other)
    throw new UsageError(`ctl ${verb}: ${other.resource.singular}/${other.name} is not a node: name a node`);
  const cluster = context.cluster();
  return Promise.all(
    targets.map(async (target) => ({ target, node: await cluster.get(targetPath(target)) })),
  );
}

/**
 * Prints for each node whether it was changed or already was in that state; errors are reported, and the
 * other nodes are still processed.
 */
export async function setUnschedulable(
  context: VerbContext,
  nodes: readonly NodeTarget[],
  unschedulable: boolean,
): Promise<void> {
  const { io, flags } = context;
  const dryRun = dryRunOf(flags);
  const verb = unschedulable ? 'cordon' : 'uncordon';
  const change = async ({ target, node }: NodeTarget) => {
    const already = (valueAt(node, 'spec', 'unschedulable') === true) === unschedulable;
    if (!already && dryRun !== 'client') await patchSpec(context, target, unschedulable, dryRun);
    io.out(`node/${target.name} ${already ? 'already ' : ''}${verb}ed${dryRunSuffix[dryRun]}\n`);
  };
  const explain = (cause: unknown, { target }: NodeTarget) =>
    new Error(`unable to ${verb} node ${JSON.stringify(target.name)}`, { cause });
  await forEachReported(context, nodes, change, explain);
}

async function patchSpec(
  context: VerbContext,
  target: ObjectTarget,
  unschedulable: boolean,
  dryRun: DryRun,
): Promise<void> {
  const options = writeQuery(dryRun);
  const patch = cordonPatch(unschedulable);
  await context.cluster().send('PATCH', targetPath(target) + options, patch, patchTypes.merge);
}
