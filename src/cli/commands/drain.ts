/** `ctl drain`: marks a node unschedulable, then evicts its pods. */
import type { JsonObject } from '../../apimachinery/equality.ts';
import { parseLabelSelector } from '../../apimachinery/labels.ts';
import { isNotFound } from '../../apimachinery/status-error.ts';
import { errorMessage } from '../../base/log.ts';
import { UsageError } from '../../base/usage-error.ts';
import { objectPath } from '../../client/resource-path.ts';
import {
  controllerOf,
  type DrainPlan,
  isOfDaemonSet,
  joined,
  overdueAt,
  planDrain,
} from '../../views/drain-plan.ts';
import { ReportedError } from '../errors.ts';
import { dryRunOf, dryRunSuffix, type Flags, type FlagTable, under } from '../flags/flags.ts';
import { nodeFlags, nodesOf, setUnschedulable } from '../nodes/nodes.ts';
import { type RemovalSettings, removePods } from '../nodes/pod-removal.ts';
import { findResource } from '../objects/discovery.ts';
import type { CollectionTarget } from '../objects/object-target.ts';
import { metadataOf, recordsAt, textAt } from '../objects/objects.ts';
import { chunkSizeFlag, chunkSizeOf, pages } from '../objects/pages.ts';
import type { Verb, VerbContext } from '../verb.ts';

const flagTable = {
  ...nodeFlags,
  ...under('Eviction', {
    'pod-selector': { type: 'string', hint: 'SELECTOR', about: 'only pods whose labels match' },
    'ignore-daemonsets': { type: 'boolean', about: 'ignore pods that a DaemonSet manages: they stay' },
    'delete-emptydir-data': {
      type: 'boolean',
      about: 'also delete pods with emptyDir volumes, whose data is lost',
    },
    force: { type: 'boolean', about: 'also delete pods that no controller replaces' },
    'disable-eviction': {
      type: 'boolean',
      about: 'delete pods rather than evict them: disruption budgets are ignored',
    },
    'grace-period': {
      type: 'string',
      hint: 'SECONDS',
      about: 'seconds given to a pod to terminate gracefully',
      usual: 'the grace period of each pod',
    },
    'skip-wait-for-delete-timeout': {
      type: 'string',
      hint: 'SECONDS',
      about: 'do not wait for pods whose deletionTimestamp is older than this many seconds',
      usual: 'wait for all',
    },
  }),
  ...chunkSizeFlag,
  timeout: { type: 'string', hint: 'DURATION', about: 'time to wait before giving up', usual: 'no limit' },
} as const satisfies FlagTable;

const daemonSets = {
  group: 'apps',
  version: 'v1',
  kind: 'DaemonSet',
  plural: 'daemonsets',
  namespaced: true,
};

export const drain: Verb = {
  about: 'cordon nodes and evict their pods before maintenance',
  group: 'Cluster Management Commands',
  words: ['NODE...', '-l SELECTOR'],
  flags: flagTable,
  examples: [
    'ctl drain n1 --ignore-daemonsets # evict all pods except those of DaemonSets',
    'ctl drain n1 --ignore-daemonsets --delete-emptydir-data # also pods that lose their emptyDir volumes',
    'ctl drain n1 --ignore-daemonsets --dry-run=client # print what would be evicted',
  ],
  async run(context) {
    const { io, flags } = context;
    const settings = readSettings(flags);
    requireSelector(flags.text('pod-selector'));
    const nodes = await nodesOf(context, 'drain');
    await setUnschedulable(context, nodes, true);
    const failed: Failure[] = [];
    for (const { target } of nodes) {
      const failure = await drainNode(context, target.name, settings);
      if (!failure) {
        io.out(`node/${target.name} drained${dryRunSuffix[settings.dryRun]}\n`);
        continue;
      }
      failed.push(failure);
      const why = joined(failure.errors);
      io.err(
        `error: unable to drain node ${JSON.stringify(target.name)} due to error: ${why}, continuing command...\n`,
      );
    }
    if (failed.length === 0) return;
    io.err(`There are pending nodes to be drained:\n${failed.map(({ node }) => ` ${node}\n`).join('')}`);
    io.err(lastWords(failed));
    throw new ReportedError();
  },
};

interface Failure {
  readonly node: string;
  readonly errors: readonly string[];
  /** True for errors of single pods, false for an error of the command. */
  readonly each: boolean;
}

/**
 * kubectl prints every error a second time: one line per error for a single node, one line per node for
 * several.
 */
function lastWords(failed: readonly Failure[]): string {
  const [only] = failed;
  if (only && failed.length === 1)
    return only.errors.map((error) => `${only.each ? '' : 'error: '}${error}\n`).join('');
  return failed.map(({ errors }) => `${joined(errors)}\n`).join('');
}

function readSettings(flags: Flags): RemovalSettings {
  const grace = flags.whole('grace-period') ?? -1;
  const overdue = flags.whole('skip-wait-for-delete-timeout') ?? 0;
  return {
    evict: !flags.on('disable-eviction'),
    gracePeriodSeconds: grace < 0 ? undefined : grace,
    timeoutMs: flags.duration('timeout') || undefined,
    overdueSeconds: overdue > 0 ? overdue : undefined,
    dryRun: dryRunOf(flags),
  };
}

function requireSelector(text: string | undefined): void {
  try {
    if (text !== undefined) parseLabelSelector(text);
  } catch (error) {
    throw new UsageError(`--pod-selector=${text} must be a valid label selector: ${errorMessage(error)}`);
  }
}

/** Resolves to the failure; undefined if the node is drained. */
async function drainNode(
  context: VerbContext,
  node: string,
  settings: RemovalSettings,
): Promise<Failure | undefined> {
  const { io, flags } = context;
  const cluster = context.cluster();
  const collection = {
    resource: findResource(await cluster.resources(), 'pods'),
    namespace: '',
    labelSelector: flags.text('pod-selector'),
    fieldSelector: `spec.nodeName=${node}`,
  };
  const plan = await planFor(context, collection, settings);
  if (plan.errors.length > 0) return { node, errors: plan.errors, each: true };
  if (plan.warnings) io.err(`Warning: ${plan.warnings}\n`);
  const errors = await removePods(cluster, io, collection, plan.pods, settings);
  if (errors.length === 0) return undefined;
  const left = await planFor(context, collection, settings);
  if (left.pods.length > 0) {
    const names = left.pods.map((pod) => `pod/${metadataOf(pod).name}\n`).join('');
    io.err(
      `There are pending pods in node ${JSON.stringify(node)} when an error occurred: ${joined(errors)}\n${names}`,
    );
  }
  return { node, errors, each: settings.evict };
}

async function planFor(
  { flags, cluster, io }: VerbContext,
  collection: CollectionTarget,
  { overdueSeconds }: RemovalSettings,
): Promise<DrainPlan> {
  const pods: JsonObject[] = [];
  for await (const page of pages(cluster(), collection, { limit: chunkSizeOf(flags) }))
    pods.push(...recordsAt(page, 'items'));
  const answers = new Map<JsonObject, { readonly missing: boolean; readonly error: string }>();
  for (const pod of pods) {
    if (!isOfDaemonSet(pod)) continue;
    const name = textAt(controllerOf(pod), 'name');
    const path = objectPath(daemonSets, name, metadataOf(pod).namespace);
    const answer = cluster()
      .get(path)
      .then(
        () => ({ missing: false, error: '' }),
        (error) => ({ missing: isNotFound(error), error: errorMessage(error) }),
      );
    answers.set(pod, await answer);
  }
  const options = {
    force: flags.on('force'),
    ignoreDaemonSets: flags.on('ignore-daemonsets'),
    deleteEmptyDirData: flags.on('delete-emptydir-data'),
    isOverdue: (pod: JsonObject) => {
      const at = overdueSeconds && overdueAt(pod, overdueSeconds);
      return at !== undefined && at <= io.clock.now();
    },
  };
  return planDrain(pods, options, (pod) => answers.get(pod) ?? { missing: false, error: '' });
}
