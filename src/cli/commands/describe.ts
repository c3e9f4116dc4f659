/** `ctl describe`: details of objects, with what belongs to them and their events. */
import { isNotFound } from '../../apimachinery/status-error.ts';
import type { Cluster } from '../connection/cluster.ts';
import { describeTarget } from '../describe/describe-object.ts';
import { type FlagTable, fileFlags, selectorFlag } from '../flags/flags.ts';
import { forEachReported } from '../for-each-reported.ts';
import { reportNothingIn } from '../objects/nothing-found.ts';
import type { ObjectTarget } from '../objects/object-target.ts';
import { metadataOf, recordsAt } from '../objects/objects.ts';
import { chunkSizeFlag, chunkSizeOf, pages } from '../objects/pages.ts';
import { resolveObjects } from '../objects/targets.ts';
import type { Verb, VerbContext } from '../verb.ts';
import { ObjectCauses } from '../why/object-cause.ts';
import { ruleBook } from '../why/rule-book.ts';

const flagTable = {
  ...selectorFlag,
  ...fileFlags,
  ...chunkSizeFlag,
  'all-namespaces': { type: 'boolean', short: 'A', about: 'from all namespaces' },
  'show-events': {
    type: 'boolean',
    on: true,
    about: 'show the events of each object, and the first cause of its problem',
  },
} as const satisfies FlagTable;

export const describe: Verb = {
  about: 'explain the state of objects: their settings, their conditions and their last events',
  group: 'Troubleshooting and Debugging Commands',
  words: ['TYPE [NAME | NAME-PREFIX]', 'TYPE/NAME...', '-f FILE'],
  flags: flagTable,
  examples: [
    'ctl describe pod web # see why a pod does not start',
    'ctl describe deployments -l app=web # describe the objects that have a label',
    'ctl describe nodes # see what the nodes have and what their pods request',
  ],
  async run(context) {
    const { flags, io } = context;
    const cluster = context.cluster();
    const targets = await resolveObjects(context);
    if (targets.length === 0) {
      if (flags.on('all-namespaces')) io.err('No resources found\n');
      else await reportNothingIn(cluster, io);
    }
    const print = printer(context, cluster, await causesFor(context, cluster));
    await forEachReported(context, targets, async (target) => {
      try {
        await print(target);
      } catch (error) {
        if (!isNotFound(error) || target.manifest) throw error;
        const matches = await withPrefix(cluster, target, chunkSizeOf(flags));
        if (matches.length === 0) throw error;
        await forEachReported(context, matches, print);
      }
    });
  },
};

/**
 * Resolves to the finder of first causes. Undefined without events, and if a program reads the output of the
 * client under the name kubectl: it gets the same bytes as from kubectl.
 */
async function causesFor({ flags, io }: VerbContext, cluster: Cluster): Promise<ObjectCauses | undefined> {
  const isForProgram = io.calledAs === 'kubectl' && io.columns?.out === undefined;
  if (isForProgram || !flags.on('show-events')) return undefined;
  return new ObjectCauses(cluster, await ruleBook(io.features));
}

/** Returns a function that prints one description, with two empty lines between two of them. */
function printer(
  { flags, io }: VerbContext,
  cluster: Cluster,
  causes: ObjectCauses | undefined,
): (target: ObjectTarget) => Promise<void> {
  let first = true;
  return async (target) => {
    const text = await describeTarget(target, {
      cluster,
      showEvents: flags.on('show-events'),
      limit: chunkSizeOf(flags),
      now: io.clock.now(),
      causes,
      describers: io.features.describers,
    });
    io.out(`${first ? '' : '\n\n'}${text}`);
    await io.room?.();
    first = false;
  };
}

/** Resolves to the objects whose names begin with the target's name. */
async function withPrefix(cluster: Cluster, target: ObjectTarget, limit: number): Promise<ObjectTarget[]> {
  const { resource, namespace, name } = target;
  const collection = { resource, namespace, labelSelector: undefined, fieldSelector: undefined };
  const found: ObjectTarget[] = [];
  for await (const page of pages(cluster, collection, { limit }))
    for (const item of recordsAt(page, 'items')) {
      const { name: full } = metadataOf(item);
      if (full.startsWith(name)) found.push({ resource, namespace, name: full });
    }
  return found;
}
