/**
 * Decisions of `minik8s upgrade --nodes` about the other masters: their order, and when a master's upgrade is
 * complete.
 */
import { addressIn, versionAnnotation } from '../../api/coordination/v1/master-lease.ts';
import {
  parseUpgradeResult,
  type UpgradeOrder,
  upgradableAnnotation,
  upgradeResultAnnotation,
} from '../../api/core/v1/node/upgrade.ts';

/** The fields of a master's Lease that count here, as `ctl get leases -o json` prints them. */
export interface LeaseFacts {
  readonly metadata: {
    readonly name: string;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec?: { readonly holderIdentity?: string };
}

export interface MastersPlan {
  /** Names of the Leases of the masters to upgrade, in this order. */
  readonly upgrades: readonly string[];
  /** Names of the Leases of the masters that have the version already. */
  readonly current: readonly string[];
  /** Masters that cannot be upgraded from here, with the reason and what to do. */
  readonly byHand: readonly { readonly name: string; readonly why: string }[];
}

/** `own`: addresses of this machine, whose master is left out. */
export function planMasters(
  leases: readonly LeaseFacts[],
  { version, own }: { readonly version: string; readonly own: readonly string[] },
): MastersPlan {
  const others = leases
    .filter((lease) => !own.includes(addressIn(lease.spec?.holderIdentity)?.address ?? ''))
    .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  const left = others.filter((lease) => versionOf(lease) !== version);
  const isUpgradable = ({ metadata }: LeaseFacts) =>
    metadata.annotations?.[upgradableAnnotation] !== undefined;
  return {
    upgrades: left.filter(isUpgradable).map(nameOf),
    current: others.filter((lease) => !left.includes(lease)).map(nameOf),
    byHand: left
      .filter((lease) => !isUpgradable(lease))
      .map((lease) => ({ name: nameOf(lease), why: 'run minik8s upgrade --file FILE there first' })),
  };
}

const nameOf = ({ metadata }: LeaseFacts) => metadata.name;
const versionOf = ({ metadata }: LeaseFacts) => metadata.annotations?.[versionAnnotation];

export type MasterProgress = 'done' | 'waiting' | { readonly error: string };

/**
 * Returns the state of an order. A master removes its Lease when it stops, and creates a new Lease, without
 * the order, when it starts.
 */
export function masterProgress(lease: LeaseFacts | undefined, order: UpgradeOrder): MasterProgress {
  if (lease === undefined) return 'waiting';
  const result = parseUpgradeResult(lease.metadata.annotations?.[upgradeResultAnnotation]);
  if (result?.id === order.id) return { error: result.error };
  return versionOf(lease) === order.version ? 'done' : 'waiting';
}

/** Returns the message of a failed run: which masters are upgraded, and how to continue or go back. */
export function masterFailure(
  failed: { readonly name: string; readonly error: string },
  done: readonly string[],
  left: readonly string[],
): string {
  const list = (names: readonly string[]) => (names.length > 0 ? names.join(', ') : 'none');
  return (
    `master ${failed.name} was not upgraded: ${failed.error}; upgraded: ${list(done)}; not yet: ${list(left)}, and no node; ` +
    'to go on: minik8s upgrade --nodes; to go back: minik8s upgrade --back, here and on each upgraded master'
  );
}
