/**
 * Keeps this master in the endpoints of the API's Service, and creates the objects that every cluster has;
 * removes the master from the endpoints when it stops.
 */
import { leaseResource } from '../api/coordination/v1/lease.ts';
import type { SystemObjects } from '../api/core/v1/system-objects.ts';
import { KindSet } from '../apimachinery/kind-set.ts';
import { isNotFound } from '../apimachinery/status-error.ts';
import { aborted } from '../base/abort.ts';
import type { Clock } from '../base/clock.ts';
import { errorMessage, type Logger } from '../base/log.ts';
import type { Random } from '../base/random.ts';
import type { Client } from '../client/client.ts';
import { createInformerFactory } from '../client/shared-informer.ts';
import { createManager } from '../controller-runtime/manager.ts';
import { fixedObjectsController } from '../controllers/masters/fixed-objects.ts';
import { type MastersOptions, mastersController } from '../controllers/masters/masters.ts';
import { leaseNameOf } from '../controllers/masters/masters-plan.ts';
import { systemObjectsController } from '../controllers/masters/system-objects.ts';

/** Address of a master, and the host name of its machine. */
export type NamedMaster = Omit<MastersOptions, 'onPublished'>;

export interface AnnounceMasterOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly master: NamedMaster;
  readonly objects: SystemObjects;
  /** Called when the Service lists this master. */
  readonly onPublished: () => void;
}

/**
 * Maximum retry delay: an API that was unavailable is reached again within this time, which is shorter than
 * the lease.
 */
const retry = { maxMs: 1_000 };

/** Resolves when the signal has aborted and the removal of this master from the endpoints has been tried. */
export async function announceMaster(options: AnnounceMasterOptions, signal: AbortSignal): Promise<void> {
  const { client, clock, random, log, master, objects, onPublished } = options;
  const informers = createInformerFactory({ client, clock, random, log });
  const events = { event: () => undefined };
  // None of these controllers watches kinds dynamically.
  const kinds = new KindSet([]);
  const controller = { retry };
  const manager = createManager({ client, informers, kinds, events, clock, random, log, controller });
  manager.add(mastersController({ ...master, onPublished }));
  manager.add(systemObjectsController(objects));
  manager.add(fixedObjectsController);
  await manager.run(signal);
  await aborted(signal);
  try {
    await client.resource(leaseResource).delete(leaseNameOf(master), 'kube-system');
  } catch (error) {
    // A master that stops before it was announced has no endpoint to remove.
    if (isNotFound(error)) return;
    log.warn(
      'this master could not be removed from the endpoints of the Service kubernetes; another master removes it within 15 s',
      {
        error: errorMessage(error),
      },
    );
  }
}
