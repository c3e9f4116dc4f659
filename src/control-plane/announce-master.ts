/**
 * Keeps this master among the endpoints of the API's Service, and what every cluster has from the beginning there;
 * takes the master out again when it stops.
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

/** Where a master is reached, and the name of its machine. */
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

/** An API that was away answers again within this; a lease lasts longer. */
const retry = { maxMs: 1_000 };

/** Resolves when the signal has aborted and the other masters can know that this one has gone. */
export async function announceMaster(options: AnnounceMasterOptions, signal: AbortSignal): Promise<void> {
  const { client, clock, random, log, master, objects, onPublished } = options;
  const informers = createInformerFactory({ client, clock, random, log });
  const events = { event: () => undefined };
  // None of these controllers follows the kinds there are.
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
    // One that stops before it was announced has nothing to take back.
    if (isNotFound(error)) return;
    log.warn(
      'this master could not be removed from the endpoints of the Service kubernetes; another master removes it within 15 s',
      {
        error: errorMessage(error),
      },
    );
  }
}
