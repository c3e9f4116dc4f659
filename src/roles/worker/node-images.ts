/** Images of the cluster on this node: its connections to masters and to other nodes. */
import { type Node, nodeResource } from '../../api/core/v1/node/node.ts';
import { apiVersionOf, storageKey } from '../../apimachinery/resource-definition.ts';
import type { Current } from '../../base/current.ts';
import type { Client } from '../../client/client.ts';
import type { Transport } from '../../client/transport.ts';
import { HeldImages, type HeldImagesOptions } from '../../features/images/agent/held-images.ts';
import { ImageEngine } from '../../features/images/agent/image-engine.ts';
import { archiveSubresource, imageResource } from '../../features/images/api/image.ts';
import { imagesPath, nodePath } from '../../features/images/api/image-node.ts';
import type { NodeFeature } from '../../kubelet/node/node-feature.ts';
import type { KeyAndCertificate } from '../../pki/x509.ts';
import { createNodeConnection } from '../master/node-connection.ts';

export interface NodeImagesOptions {
  readonly dockerSocket: string | undefined;
  readonly transport: Transport;
  /** Client certificate of this node, by which other nodes recognise it. */
  readonly identity: Current<KeyAndCertificate>;
  readonly authority: Current<string>;
}

export const nodeImages = ({ dockerSocket, transport, ...trust }: NodeImagesOptions): NodeFeature => ({
  start(context) {
    const engine = new ImageEngine(dockerSocket);
    const held = new HeldImages({
      ...{ ...context, engine },
      fromNode: connectionToNodes(context.client, trust),
      fromMaster: (image, signal) => fromMaster(transport, image, signal),
    });
    return {
      clusterImages: held,
      files: {
        prefix: `${imagesPath}/`,
        resource: {
          group: imageResource.group,
          resource: imageResource.plural,
          subresource: archiveSubresource,
        },
        open: (name) => held.open(name),
      },
      runAsMember: (signal) => held.run(signal),
    };
  },
});

/**
 * Connects to the agents of other nodes with this node's certificate; the agents prove their names by their
 * own certificates.
 */
function connectionToNodes(
  client: Client,
  { identity, authority }: Pick<NodeImagesOptions, 'identity' | 'authority'>,
): HeldImagesOptions['fromNode'] {
  const known = new Map<string, Node>();
  const cache = {
    get(key: string) {
      const object = known.get(key);
      return object && { object };
    },
  };
  const connection = createNodeConnection({ cache, authority, client: identity });
  return async (node, image, signal) => {
    known.set(storageKey(nodeResource, '', node), await client.resource(nodeResource).get(node, ''));
    const answer = await connection(node, nodePath(image), signal);
    if (answer.ok && answer.body) return answer.body as AsyncIterable<Uint8Array>;
    throw new Error(`${answer.status} ${(await answer.text()).slice(0, 500)}`);
  };
}

async function fromMaster(transport: Transport, image: string, signal: AbortSignal) {
  const path = `/apis/${apiVersionOf(imageResource)}/${imageResource.plural}/${image}/${archiveSubresource}`;
  const { status, body } = await transport.request({
    method: 'GET',
    path,
    headers: { accept: '*/*' },
    signal,
  });
  if (status === 200) return body;
  let text = '';
  for await (const piece of body) text += Buffer.from(piece).toString('utf8').slice(0, 500);
  throw new Error(`${status} ${text.slice(0, 500)}`);
}
