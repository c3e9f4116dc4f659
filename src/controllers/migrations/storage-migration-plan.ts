/** Decisions about StorageVersionMigrations: order, conditions, and the status of a definition. Pure. */
import type { CustomResourceDefinition } from '../../api/apiextensions/v1/types.gen.ts';
import {
  isMigrationOver,
  migrationIs,
  type StorageVersionMigration,
} from '../../api/storagemigration/v1/storage-version-migration.ts';
import { findCondition, withReplaced } from '../../apimachinery/conditions.ts';
import type { Condition } from '../../apimachinery/schema.ts';

export interface MigrationPlan {
  /** Migrations that are over and still marked as running. */
  readonly finish: readonly StorageVersionMigration[];
  /** The migration that runs or may run now: one at a time for each kind, the oldest first. */
  readonly run: StorageVersionMigration | undefined;
}

/** Returns the plan for the migrations of one kind. */
export function planMigrations(migrations: readonly StorageVersionMigration[]): MigrationPlan {
  const waiting = migrations.filter((one) => !isMigrationOver(one)).sort(olderFirst);
  return {
    finish: migrations.filter((one) => isMigrationOver(one) && migrationIs(one, 'Running')),
    run: waiting.find((one) => migrationIs(one, 'Running')) ?? waiting[0],
  };
}

const olderFirst = ({ metadata: a }: StorageVersionMigration, { metadata: b }: StorageVersionMigration) =>
  a.creationTimestamp.localeCompare(b.creationTimestamp) || (a.name < b.name ? -1 : 1);

/** Returns the migration with the condition; its time changes with its status alone. `now` is in RFC 3339. */
export function withMigrationCondition(
  migration: StorageVersionMigration,
  { type, status, reason, message }: Pick<Condition, 'type' | 'status' | 'reason' | 'message'>,
  now: string,
): StorageVersionMigration {
  const conditions = migration.status?.conditions ?? [];
  const before = findCondition(conditions, type);
  const lastTransitionTime = before?.status === status ? before.lastTransitionTime : now;
  const next = { ...before, type, status, reason, message, lastTransitionTime };
  return {
    ...migration,
    status: { ...migration.status, conditions: withReplaced(conditions, next as Condition) },
  } as StorageVersionMigration;
}

const migrating = 'StorageMigrating';

type Status = NonNullable<CustomResourceDefinition['status']>;

/** Returns the status of a definition whose objects are being migrated. */
export function migratingStatus(
  { metadata, status }: CustomResourceDefinition,
  name: string,
  now: string,
): Partial<Status> {
  const message = `Migration ${name} is running`;
  return conditionsWith(status, 'True', 'MigrationRunning', message, metadata.generation, now);
}

/**
 * Returns the status of a definition after a migration. Only the current version is left of its stored
 * versions if the migration has succeeded and the definition has not changed meanwhile.
 */
export function migratedStatus(
  { metadata, spec, status }: CustomResourceDefinition,
  hasSucceeded: boolean,
  now: string,
): Partial<Status> {
  const began = findCondition(status?.conditions, migrating)?.observedGeneration;
  const isCurrent = began !== undefined && began === metadata.generation;
  const storage = spec.versions.find((version) => version.storage)?.name;
  const message = hasSucceeded
    ? `The migration has succeeded ${isCurrent ? 'and the stored versions have been updated' : 'but the stored versions have not been updated due to a generation mismatch'}`
    : 'The migration has failed';
  const reason = hasSucceeded ? 'MigrationSucceeded' : 'MigrationFailed';
  return {
    ...conditionsWith(status, 'False', reason, message, metadata.generation, now),
    ...(hasSucceeded && isCurrent && storage !== undefined && { storedVersions: [storage] }),
  };
}

function conditionsWith(
  status: CustomResourceDefinition['status'],
  value: 'True' | 'False',
  reason: string,
  message: string,
  observedGeneration: number | undefined,
  now: string,
): Pick<Status, 'conditions'> {
  const before = findCondition(status?.conditions, migrating);
  const lastTransitionTime = before?.status === value ? (before.lastTransitionTime ?? now) : now;
  const next = { type: migrating, status: value, reason, message, observedGeneration, lastTransitionTime };
  return { conditions: [...(status?.conditions ?? []).filter(({ type }) => type !== migrating), next] };
}
