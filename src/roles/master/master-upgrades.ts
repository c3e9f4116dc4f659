/**
 * Upgrades of this master that an administrator has ordered by the master's Lease. The executable comes from
 * another master, which runs it already.
 */

import { leaseResource } from '../../api/coordination/v1/lease.ts';
import { addressIn, masterLabel } from '../../api/coordination/v1/master-lease.ts';
import type { Clock } from '../../base/clock.ts';
import type { Current } from '../../base/current.ts';
import type { Logger } from '../../base/log.ts';
import type { Random } from '../../base/random.ts';
import { createHttpsTransport } from '../../client/https-transport.ts';
import { createClient } from '../../client/rest-client.ts';
import { createInformerFactory } from '../../client/shared-informer.ts';
import type { Transport } from '../../client/transport.ts';
import type { Exec } from '../../os/exec.ts';
import { OrderedUpgrades, type OrderedUpgradesOptions } from '../upgrade/ordered-upgrades.ts';

export interface MasterUpgradesOptions
  extends Pick<OrderedUpgradesOptions, 'executable' | 'ownDigest' | 'directory'> {
  readonly exec: Exec;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Name of this master's Lease. */
  readonly lease: string;
  /** Opens a connection to an API server as an administrator; default: the API server of this master. */
  readonly connect: (server?: string) => Transport;
}

const namespace = 'kube-system';

/** Works until the signal aborts; never rejects. */
export async function followMasterOrders(options: MasterUpgradesOptions, signal: AbortSignal): Promise<void> {
  const { exec, clock, random, log, executable, ownDigest, directory, lease, connect } = options;
  const transport = connect();
  const client = createClient(transport, { clock, random });
  const informers = createInformerFactory({ client, clock, random, log });
  const leases = informers.informerFor(leaseResource, { namespace, labelSelector: masterLabel });
  const upgrades = new OrderedUpgrades({
    ...{ exec, clock, log, executable, ownDigest, directory },
    object: {
      annotations: () => {
        const own = leases.lister.get(`${namespace}/${lease}`);
        return own && (own.metadata.annotations ?? {});
      },
      annotate: async (name, value) => {
        const patch = { metadata: { annotations: { [name]: value } } };
        await client.resource(leaseResource).patch(lease, namespace, 'merge', patch);
      },
    },
    sources: async () =>
      leases.lister.list(namespace).flatMap(({ metadata, spec }) => {
        const place = addressIn(spec.holderIdentity);
        if (place === undefined || metadata.name === lease) return [];
        return [connect(`https://${place.address}:${place.port}`)];
      }),
  });
  leases.addEventHandler({ onAdd: upgrades.changed, onUpdate: upgrades.changed });
  informers.start(signal).catch(() => undefined);
  await upgrades.run(signal);
  await informers.stopped();
  transport.close();
}

export interface AdministratorOptions {
  /** URL of this master's API server. */
  readonly server: string;
  /** PEM of the cluster's authorities. */
  readonly authority: Current<string>;
  readonly identity: Current<{ readonly key: string; readonly certificate: string }>;
  readonly clock: Clock;
}

/** Returns the connections of an administrator of the cluster. */
export const administrator =
  ({ server, authority, identity, clock }: AdministratorOptions): MasterUpgradesOptions['connect'] =>
  (other = server) =>
    createHttpsTransport({ server: other, ca: authority, identity, clock });
