/** `ctl add node`: lets machines in that wait, or one that had been taken out. */
import { isAlreadyExists } from '../../apimachinery/status-error.ts';
import { collectionPath } from '../../client/resource-path.ts';
import { decide } from '../certificate-decision.ts';
import { findResource } from '../discovery.ts';
import { recordsAt } from '../objects.ts';
import type { Verb, VerbContext, VerbGroup } from '../verb.ts';
import { waitingNodes } from '../waiting-nodes-plan.ts';
import { writeQuery } from '../write-options.ts';

const node: Verb = {
  about:
    'let a machine in that waits or was taken out; without a name: all that wait. ' +
    'A machine that was taken out cannot be told from one that never was: for a name that nobody waits under the Node ' +
    'is made (status 0), with a warning that says how to take it back',
  words: 'NODE',
  async run(context) {
    const { flags, io } = context;
    const cluster = context.cluster();
    const requests = findResource(await cluster.resources(), 'certificatesigningrequests');
    const waiting = waitingNodes(recordsAt(await cluster.get(collectionPath(requests)), 'items'));
    const names =
      flags.words.length > 0 ? flags.words.map((word) => word.replace(/^nodes?\//, '')) : [...waiting.keys()];
    if (names.length === 0) io.out('No machine is waiting.\n');
    for (const name of names) {
      try {
        const asked = waiting.get(name) ?? [];
        for (const request of asked)
          await decide(cluster, io, { resource: requests, namespace: '', name: request }, 'approve');
        const unasked = asked.length === 0;
        const added = !unasked || (await makeNode(context, name));
        io.out(`node/${name} ${added ? 'added' : 'is in the cluster already'}\n`);
        if (unasked && added) io.err(nobodyWaits(name));
      } catch (error) {
        if (io.signal.aborted) throw error;
        context.report(error);
      }
    }
  },
};

const nobodyWaits = (name: string) =>
  `Warning: no machine named ${name} waits to be let in or has asked to join: unless one was taken out under this name, ` +
  `node/${name} stays NotReady until one joins; to take it back: minik8s ctl delete node ${name}\n`;

/** A machine that was taken out waits for its Node to be there again. False when there is one. */
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

export const add: VerbGroup = { about: 'let machines into the cluster', verbs: { node } };
