/** `ctl scale`: sets the number of replicas of any resource with a scale. */

import { patchTypes } from '../../apimachinery/patch.ts';
import { UsageError } from '../../base/usage-error.ts';
import { beginWork } from '../../terminal/live-lines.ts';
import type { Cluster } from '../connection/cluster.ts';
import { dryRunOf, dryRunSuffix, type FlagTable } from '../flags/flags.ts';
import { changeFlags, fieldManagerOf, resourceVersionFlag, writeQuery } from '../flags/write-options.ts';
import { forEachReported } from '../for-each-reported.ts';
import { kindName } from '../objects/discovery.ts';
import { follow } from '../objects/follow.ts';
import { type ObjectTarget, targetPath } from '../objects/object-target.ts';
import { metadataOf, numberAt, recordAt } from '../objects/objects.ts';
import { requireSelection, resolveObjects } from '../objects/targets.ts';
import { printedFormat } from '../printers/object-format.ts';
import type { Verb, VerbContext } from '../verb.ts';

const flagTable = {
  replicas: { type: 'string', hint: 'COUNT', about: 'number of replicas; required' },
  'current-replicas': {
    type: 'string',
    hint: 'COUNT',
    about: 'scale only if the object has this many replicas now',
    usual: 'any number',
  },
  timeout: {
    type: 'string',
    hint: 'DURATION',
    about: 'time to wait until that many replicas exist; 0: do not wait',
    usual: '0',
  },
  ...resourceVersionFlag,
  ...changeFlags,
} as const satisfies FlagTable;

export const scale: Verb = {
  about: 'set the number of replicas of workloads',
  group: 'Deploy Commands',
  words: ['TYPE NAME... --replicas=COUNT', 'TYPE/NAME... --replicas=COUNT', '-f FILE --replicas=COUNT'],
  flags: flagTable,
  examples: [
    'ctl scale deployment web --replicas=3 # set the number of pods',
    'ctl scale deployment/web --current-replicas=2 --replicas=3 # only if it has two now',
    'ctl scale deployment web --replicas=5 --timeout=2m # wait until there are five',
  ],
  async run(context) {
    const { flags, io } = context;
    const replicas = flags.whole('replicas');
    if (replicas === undefined || replicas < 0)
      throw new UsageError('ctl scale: --replicas=COUNT is required, and COUNT must be 0 or more');
    requireSelection(flags);
    const cluster = context.cluster();
    const dryRun = dryRunOf(flags);
    const required = {
      replicas: flags.whole('current-replicas') ?? -1,
      resourceVersion: flags.text('resource-version') ?? '',
    };
    const format = printedFormat(flags);
    const timeoutMs = flags.duration('timeout');
    const query = writeQuery(dryRun, undefined, fieldManagerOf(flags));
    const targets = await resolveObjects(context);
    if (targets.length === 0) throw new Error('no objects passed to scale');
    if (required.resourceVersion && targets.length > 1)
      throw new UsageError('cannot use --resource-version with multiple resources');
    await forEachReported(context, targets, async (target) => {
      const { resource, name } = target;
      if (!resource.subresources.includes('scale'))
        throw new Error(`cannot scale ${resource.plural}: they have no replicas`);
      if (dryRun !== 'client') await setReplicas(cluster, target, replicas, required, query);
      if (timeoutMs && dryRun === 'none') await untilScaled(context, target, replicas, timeoutMs);
      const line = `${kindName(resource)}/${name} scaled${dryRunSuffix[dryRun]}\n`;
      io.out(format ? format(await cluster.get(targetPath(target))) : line);
    });
  },
};

/** State that the object must have now. */
interface Required {
  /** Negative for any number. */
  readonly replicas: number;
  /** Empty for any version. */
  readonly resourceVersion: string;
}

async function setReplicas(
  cluster: Cluster,
  target: ObjectTarget,
  replicas: number,
  required: Required,
  query: string,
): Promise<void> {
  const path = targetPath(target, 'scale');
  if (required.replicas < 0 && required.resourceVersion === '') {
    await cluster.send('PATCH', path + query, { spec: { replicas } }, patchTypes.merge);
    return;
  }
  const current = await cluster.get(path);
  const wanted = numberAt(current, 'spec', 'replicas');
  if (required.replicas >= 0 && wanted !== required.replicas)
    throw new Error(`Expected replicas to be ${required.replicas}, was ${wanted}`);
  const { resourceVersion } = metadataOf(current);
  if (required.resourceVersion && resourceVersion !== required.resourceVersion)
    throw new Error(`Expected resource version to be ${required.resourceVersion}, was ${resourceVersion}`);
  // The request has the resourceVersion that was read, so that another client's count is not overwritten.
  const scaled = { ...current, spec: { ...recordAt(current, 'spec'), replicas } };
  await cluster.send('PUT', path + query, scaled);
}

/** Waits until the object has the replicas; rejects after the timeout, and if the object is deleted. */
async function untilScaled(
  { io, cluster }: VerbContext,
  target: ObjectTarget,
  replicas: number,
  timeoutMs: number,
): Promise<void> {
  using work = beginWork(io.progress, `${target.resource.plural}/${target.name}`);
  for await (const object of follow(cluster(), target, { clock: io.clock, timeoutMs })) {
    if (!object) throw new Error(`${target.resource.plural}/${target.name} was deleted`);
    const scaled = await cluster().get(targetPath(target, 'scale'));
    const [wanted, existing] = [numberAt(scaled, 'spec', 'replicas'), numberAt(scaled, 'status', 'replicas')];
    work.say(`${existing} of ${replicas} pods`);
    // Another client may have set another number meanwhile.
    if (wanted !== replicas || existing === replicas) return;
  }
  throw new Error(`timed out waiting for ${JSON.stringify(target.name)} to be synced`);
}
