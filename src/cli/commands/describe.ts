/** `ctl describe`: all details of objects, with their recent events. */
import type { JsonObject } from '../../apimachinery/equality.ts';
import { StatusError } from '../../apimachinery/status-error.ts';
import type { Cluster } from '../connection/cluster.ts';
import { type FlagTable, fileFlags, selectorFlag } from '../flags/flags.ts';
import { forEachReported } from '../for-each-reported.ts';
import { resourceOfKind } from '../objects/discovery.ts';
import { reportNothingIn } from '../objects/nothing-found.ts';
import { listPath, type ObjectTarget, targetPath } from '../objects/object-target.ts';
import { metadataOf, recordsAt } from '../objects/objects.ts';
import { resolveObjects } from '../objects/targets.ts';
import { describeObject, type Entry } from '../printers/description.ts';
import type { Verb } from '../verb.ts';
import { endpointsText } from './service-endpoints-plan.ts';

const flagTable = {
  ...selectorFlag,
  ...fileFlags,
  'all-namespaces': { type: 'boolean', short: 'A', about: 'from all namespaces' },
  'show-events': { type: 'boolean', on: true, about: 'show the events of each object' },
} as const satisfies FlagTable;

export const describe: Verb = {
  about: 'show details of objects, with their events',
  words: 'TYPE NAME',
  flags: flagTable,
  async run(context) {
    const { flags, io } = context;
    const cluster = context.cluster();
    const targets = await resolveObjects(context);
    if (targets.length === 0) {
      if (flags.on('all-namespaces')) io.err('No resources found\n');
      else await reportNothingIn(cluster, io);
    }
    let first = true;
    await forEachReported(context, targets, async (target) => {
      const object = await cluster.get(targetPath(target));
      const events = flags.on('show-events') ? await eventsOf(cluster, target, object) : [];
      const more = await moreOf(cluster, target, object);
      io.out(`${first ? '' : '\n\n'}${describeObject(object, events, io.clock.now(), more)}`);
      first = false;
    });
  },
};

/** Resolves to the lines about other objects, such as endpoints; empty if the user may not read those. */
async function moreOf(cluster: Cluster, target: ObjectTarget, object: JsonObject): Promise<Entry[]> {
  const { resource, namespace, name } = target;
  if (resource.kind !== 'Service' || resource.group !== '') return [];
  const slices = resourceOfKind(await cluster.resources(), 'discovery.k8s.io/v1', 'EndpointSlice');
  if (!slices) return [];
  const labelSelector = `kubernetes.io/service-name=${name}`;
  const path = listPath({ resource: slices, namespace, labelSelector, fieldSelector: undefined });
  try {
    return [['Endpoints', endpointsText(object, recordsAt(await cluster.get(path), 'items'))]];
  } catch (error) {
    if (error instanceof StatusError) return [];
    throw error;
  }
}

async function eventsOf(cluster: Cluster, target: ObjectTarget, object: JsonObject): Promise<JsonObject[]> {
  const resource = resourceOfKind(await cluster.resources(), 'v1', 'Event');
  if (!resource) return [];
  const { name, uid } = metadataOf(object);
  const fieldSelector = [
    `involvedObject.name=${name}`,
    `involvedObject.kind=${target.resource.kind}`,
    // Nodes report events about themselves with their names as uid, so the uid is not compared.
    ...(target.resource.namespaced ? [`involvedObject.uid=${uid}`] : []),
  ].join(',');
  const { namespace } = target;
  const list = await cluster.get(listPath({ resource, namespace, labelSelector: undefined, fieldSelector }));
  return recordsAt(list, 'items');
}
