/** Waits, by watching, for a node to report that it takes pods. */
import { nodeResource } from '../api/core/v1/node.ts';
import type { Client } from '../client/client.ts';

/** Resolves when the node's Ready condition is True; rejects with the signal's reason. */
export async function nodeReady(client: Client, name: string, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const events = client.resource(nodeResource).watch({ fieldSelector: `metadata.name=${name}`, signal });
    for await (const { type, object } of events) {
      if (type === 'BOOKMARK' || type === 'DELETED') continue;
      if (object.status?.conditions?.some((c) => c.type === 'Ready' && c.status === 'True')) return;
    }
  }
  throw signal.reason;
}
