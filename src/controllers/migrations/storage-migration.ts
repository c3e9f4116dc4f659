/**
 * Migrates the objects of a kind to the version in which they would be stored now: each is written anew
 * without a change (upstream: pkg/controller/storageversionmigrator). Keys are kinds as `PLURAL.GROUP`.
 */
import { customResourceDefinitionResource } from '../../api/apiextensions/v1/custom-resource-definition.ts';
import type { CustomResourceDefinition } from '../../api/apiextensions/v1/types.gen.ts';
import type { AccountRights } from '../../api/rbac/v1/rule-rows.ts';
import {
  migrationIs,
  type StorageVersionMigration,
  storageVersionMigrationResource,
} from '../../api/storagemigration/v1/storage-version-migration.ts';
import type { KubeObject } from '../../apimachinery/meta.ts';
import { apiVersionOf, type ResourceDefinition } from '../../apimachinery/resource-definition.ts';
import { isConflict, isNotFound, StatusError } from '../../apimachinery/status-error.ts';
import { errorMessage } from '../../base/log.ts';
import { rfc3339 } from '../../base/time.ts';
import type { Lister } from '../../client/informer.ts';
import {
  type ControllerContext,
  type ControllerDefinition,
  type ReconcileResult,
  watched,
} from '../../controller-runtime/definition.ts';
import { ifPresent } from '../../controller-runtime/if-present.ts';
import { doAll } from '../../controller-runtime/settle-all.ts';
import { tolerate } from '../../controller-runtime/tolerate.ts';
import {
  migratedStatus,
  migratingStatus,
  planMigrations,
  withMigrationCondition,
} from './storage-migration-plan.ts';

export const storageMigrationRights: AccountRights = {
  kubernetes: [
    ['list patch', '*', '*'],
    ['get', 'apiextensions.k8s.io', 'customresourcedefinitions'],
    ['patch', 'apiextensions.k8s.io', 'customresourcedefinitions/status'],
    ['update', 'storagemigration.k8s.io', 'storageversionmigrations/status'],
  ],
};

/** Milliseconds for which a migration waits for a kind that does not exist yet. */
const kindTimeout = 60_000;
const recheckInterval = 5_000;
const pageSize = 500;

export const storageMigrationController = (context: ControllerContext): ControllerDefinition =>
  new StorageMigrationController(context).definition();

/** Returns whether a request would be rejected again: its error is the client's, and no wait changes it. */
function isFinal(error: unknown): error is StatusError {
  const code = error instanceof StatusError ? (error.status.code ?? 500) : 500;
  return code < 500 && code !== 408 && code !== 429;
}

const keyOf = ({ spec: { resource } }: StorageVersionMigration) => `${resource.resource}.${resource.group}`;

class StorageMigrationController {
  readonly #context: ControllerContext;
  readonly #migrations: Lister<StorageVersionMigration>;

  constructor(context: ControllerContext) {
    this.#context = context;
    this.#migrations = context.informers.informerFor(storageVersionMigrationResource).lister;
  }

  definition(): ControllerDefinition {
    return {
      name: 'storage-version-migrator',
      watches: [watched(storageVersionMigrationResource, (migration) => [keyOf(migration)])],
      workers: 2,
      reconcile: (key, signal) => this.#reconcile(key, signal),
    };
  }

  async #reconcile(key: string, signal: AbortSignal): Promise<ReconcileResult | undefined> {
    const { finish, run } = planMigrations(this.#migrations.list().filter((one) => keyOf(one) === key));
    for (const migration of finish) await this.#finish(key, migration);
    if (run === undefined) return undefined;
    const kind = this.#kindOf(key);
    if (kind === undefined) return this.#withoutKind(run);
    if (!migrationIs(run, 'Running')) await this.#begin(key, run);
    else await this.#migrate(kind, run, signal);
    return undefined;
  }

  /** Returns the kind in the version in which it is stored; undefined if it is not stored here. */
  #kindOf(key: string): ResourceDefinition | undefined {
    return this.#context.kinds.stored.find(({ plural, group }) => `${plural}.${group}` === key);
  }

  async #withoutKind(migration: StorageVersionMigration): Promise<ReconcileResult | undefined> {
    const age = this.#context.clock.now() - Date.parse(migration.metadata.creationTimestamp);
    if (age < kindTimeout) return { requeueAfter: recheckInterval };
    await this.#end(migration, new Error('resource does not exist in discovery'));
    return undefined;
  }

  /** Marks the migration, and the definition of a custom kind, as running. The event continues it. */
  async #begin(key: string, migration: StorageVersionMigration): Promise<void> {
    const { name } = migration.metadata;
    await this.#editDefinition(key, (definition) => migratingStatus(definition, name, this.#now()));
    await this.#write(migration, 'Running', 'True', 'MigrationRunning', 'The migration is running');
  }

  async #migrate(
    kind: ResourceDefinition,
    migration: StorageVersionMigration,
    signal: AbortSignal,
  ): Promise<void> {
    const api = this.#context.client.resource(kind);
    const until = migration.status?.resourceVersion;
    if (!until) {
      const { metadata } = await api.list({ limit: 1 });
      await this.#update({
        ...migration,
        status: { ...migration.status, resourceVersion: metadata.resourceVersion },
      });
      return;
    }
    const fatal = await this.#writeAll(kind, Number(until), signal);
    await this.#end(migration, fatal);
  }

  /**
   * Writes every object that is not newer than the migration. Returns the error of an object that can never
   * be written; rejects with an error that may pass.
   */
  async #writeAll(kind: ResourceDefinition, until: number, signal: AbortSignal): Promise<Error | undefined> {
    const { client, clock } = this.#context;
    const api = client.resource(kind);
    let token: string | undefined;
    do {
      signal.throwIfAborted();
      const page = await api.list({ limit: pageSize, ...(token !== undefined && { continue: token }) });
      const due = page.items.filter(({ metadata }) => Number(metadata.resourceVersion) <= until);
      try {
        await doAll(clock, due, (object) => this.#writeAnew(kind, object));
      } catch (error) {
        if (!isFinal(error)) throw error;
        return error;
      }
      token = page.metadata.continue || undefined;
    } while (token !== undefined);
    return undefined;
  }

  /** Writes one object without a change. One that was changed or deleted meanwhile needs no migration. */
  async #writeAnew(kind: ResourceDefinition, { metadata }: KubeObject): Promise<void> {
    const { name, namespace = '', uid, resourceVersion } = metadata;
    const body = { apiVersion: apiVersionOf(kind), kind: kind.kind, metadata: { uid, resourceVersion } };
    const written = this.#context.client.resource(kind).patch(name, namespace, 'merge', body);
    await tolerate(written, isConflict, isNotFound);
  }

  async #end(migration: StorageVersionMigration, failure: Error | undefined): Promise<void> {
    if (failure === undefined)
      await this.#write(
        migration,
        'Succeeded',
        'True',
        'StorageVersionMigrationSucceeded',
        'Migration completed',
      );
    else {
      const message = `migration encountered unhandled error: ${errorMessage(failure)}`;
      await this.#write(migration, 'Failed', 'True', 'StorageVersionMigrationFailed', message);
    }
  }

  /** Removes the mark of a migration that is over, and the versions from which it has migrated. */
  async #finish(key: string, migration: StorageVersionMigration): Promise<void> {
    const hasSucceeded = migrationIs(migration, 'Succeeded');
    await this.#editDefinition(key, (definition) => migratedStatus(definition, hasSucceeded, this.#now()));
    await this.#write(migration, 'Running', 'False', 'MigrationCompleted', 'Migration completed');
  }

  /** Patches the status of the definition of a custom kind; does nothing for other kinds. */
  async #editDefinition(
    name: string,
    statusOf: (definition: CustomResourceDefinition) => CustomResourceDefinition['status'] | object,
  ): Promise<void> {
    if (name.endsWith('.')) return;
    const definitions = this.#context.client.resource(customResourceDefinitionResource);
    const found = await ifPresent(definitions.get(name));
    if (!found) return;
    // A definition that was changed meanwhile is a conflict, after which the key is reconciled again.
    const metadata = { resourceVersion: found.metadata.resourceVersion };
    await ifPresent(definitions.patch(name, '', 'merge', { metadata, status: statusOf(found) }, 'status'));
  }

  #write(
    migration: StorageVersionMigration,
    type: string,
    status: 'True' | 'False',
    reason: string,
    message: string,
  ): Promise<unknown> {
    return this.#update(withMigrationCondition(migration, { type, status, reason, message }, this.#now()));
  }

  #update(migration: StorageVersionMigration): Promise<unknown> {
    return ifPresent(this.#context.client.resource(storageVersionMigrationResource).updateStatus(migration));
  }

  #now = () => rfc3339(this.#context.clock.now());
}
