/** Reads that survive a short interruption of the network. */

/**
 * Times after which a read that got no answer is repeated, in milliseconds: a change of the network cuts it.
 */
const repeatMs = [100, 500, 2_000];

/** Sends a request as fetch does; a read that gets no answer is repeated up to three times. */
export async function fetchPatiently(path: string, init: RequestInit): Promise<Response> {
  for (let attempt = 0; ; attempt++)
    try {
      return await fetch(path, init);
    } catch (error) {
      const wait = repeatMs[attempt];
      const isRead = (init.method ?? 'GET') === 'GET';
      if (wait === undefined || !isRead || init.signal?.aborted) throw error;
      await new Promise((resolve) => setTimeout(resolve, wait));
    }
}
