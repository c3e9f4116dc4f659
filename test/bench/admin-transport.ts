/** Transport to the API server of a measured cluster, as its administrator. */
import { systemClock } from '../../src/base/clock.ts';
import { createHttpsTransport } from '../../src/client/https-transport.ts';
import { loadKubeconfig } from '../../src/client/kubeconfig.ts';
import { resolveContext } from '../../src/client/kubeconfig-connection.ts';
import type { Transport } from '../../src/client/transport.ts';

export function adminTransport(kubeconfig: string): Transport {
  const config = loadKubeconfig([kubeconfig]);
  if (!config) throw new Error(`${kubeconfig} is missing`);
  return createHttpsTransport({ ...resolveContext(config), clock: systemClock });
}
