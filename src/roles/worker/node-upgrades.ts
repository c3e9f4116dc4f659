/** Upgrades of this node that an administrator has ordered by an annotation of its Node. */
import { join } from 'node:path';
import { nodeResource } from '../../api/core/v1/node/node.ts';
import { createInformerFactory } from '../../client/shared-informer.ts';
import type { Transport } from '../../client/transport.ts';
import type { NodeFeature, NodeFeatureContext } from '../../kubelet/node/node-feature.ts';
import { OrderedUpgrades, type OrderedUpgradesOptions } from '../upgrade/ordered-upgrades.ts';

export interface NodeUpgradesOptions extends Pick<OrderedUpgradesOptions, 'executable' | 'ownDigest'> {
  readonly transport: Transport;
  /** Resolves to true if this process is an installed service. */
  readonly isService: () => Promise<boolean>;
}

export const nodeUpgrades = (options: NodeUpgradesOptions): NodeFeature => ({
  start: (context) => ({
    runAsMember: (signal) => run({ ...context, ...options }, signal),
  }),
});

async function run(options: NodeFeatureContext & NodeUpgradesOptions, signal: AbortSignal): Promise<void> {
  const { client, clock, random, log, exec, nodeName, dataDir, transport } = options;
  const { executable, ownDigest, isService } = options;
  if (!(await isService())) return;
  const informers = createInformerFactory({ client, clock, random, log });
  const nodes = informers.informerFor(nodeResource, { fieldSelector: `metadata.name=${nodeName}` });
  const upgrades = new OrderedUpgrades({
    ...{ exec, clock, log, executable, ownDigest, directory: join(dataDir, 'upgrade') },
    object: {
      annotations: () => {
        const node = nodes.lister.get(nodeName);
        return node && (node.metadata.annotations ?? {});
      },
      annotate: async (name, value) => {
        const patch = { metadata: { annotations: { [name]: value } } };
        await client.resource(nodeResource).patch(nodeName, '', 'merge', patch);
      },
    },
    sources: async () => [keptOpen(transport)],
  });
  nodes.addEventHandler({ onAdd: upgrades.changed, onUpdate: upgrades.changed });
  informers.start(signal).catch(() => undefined);
  await upgrades.run(signal);
  await informers.stopped();
}

/** Returns the transport for one download; the agent goes on using it. */
const keptOpen = (transport: Transport): Transport => ({
  request: (request) => transport.request(request),
  close: () => undefined,
});
