/** `ctl add node`: approves machines that wait, or recreates the Node of a machine whose Node was deleted. */
import { isAlreadyExists } from '../../apimachinery/status-error.ts';
import { collectionPath } from '../../client/resource-path.ts';
import { writeQuery } from '../flags/write-options.ts';
import { forEachReported } from '../for-each-reported.ts';
import { waitingNodes } from '../nodes/waiting-nodes-plan.ts';
import { findResource } from '../objects/discovery.ts';
import { recordsAt } from '../objects/objects.ts';
import type { Verb, VerbContext, VerbGroup } from '../verb.ts';
import { decide } from './certificate-decision.ts';

const node: Verb = {
  about: 'approve machines that wait to join, or let a deleted one in again; default: all that wait',
  words: '[NODE...]',
  examples: [
    'ctl add node # approve all machines that wait',
    'ctl add node n1 # approve one, or let a deleted one in again',
  ],
  async run(context) {
    const { flags, io } = context;
    const cluster = context.cluster();
    const requests = findResource(await cluster.resources(), 'certificatesigningrequests');
    const waiting = waitingNodes(recordsAt(await cluster.get(collectionPath(requests)), 'items'));
    const names =
      flags.words.length > 0 ? flags.words.map((word) => word.replace(/^nodes?\//, '')) : [...waiting.keys()];
    if (names.length === 0) io.out('No machine is waiting for approval.\n');
    await forEachReported(context, names, async (name) => {
      const asked = waiting.get(name) ?? [];
      for (const request of asked)
        await decide(cluster, io, { resource: requests, namespace: '', name: request }, 'approve');
      if (asked.length > 0) io.out(`node/${name} added\n`);
      else await addUnasked(context, name);
    });
  },
};

/** Creates the Node for a machine that does not wait for approval, and warns. */
async function addUnasked(context: VerbContext, name: string): Promise<void> {
  const { io } = context;
  const added = await makeNode(context, name);
  io.out(`node/${name} ${added ? 'added' : 'is in the cluster already'}\n`);
  if (added) io.err(noMachineWaits(name));
}

const noMachineWaits = (name: string) =>
  `Warning: no machine named ${name} waits for approval: unless a machine of this name was deleted from the cluster, ` +
  `node/${name} stays NotReady until a machine joins as ${name}; to undo this: minik8s ctl delete node ${name}\n`;

/**
 * Creates the Node for which a machine with a deleted Node waits. Resolves to false if the Node already
 * exists.
 */
async function makeNode({ cluster }: VerbContext, name: string): Promise<boolean> {
  const resource = findResource(await cluster().resources(), 'nodes');
  const body = { apiVersion: 'v1', kind: 'Node', metadata: { name } };
  try {
    await cluster().send('POST', collectionPath(resource) + writeQuery('none'), body);
    return true;
  } catch (error) {
    if (isAlreadyExists(error)) return false;
    throw error;
  }
}

export const add: VerbGroup = {
  about: 'approve machines that join the cluster',
  group: 'Cluster Management Commands',
  examples: ['ctl add node n1 # approve a machine that waits'],
  verbs: { node },
};
