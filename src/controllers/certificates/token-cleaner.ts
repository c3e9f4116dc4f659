/** Deletes expired bootstrap tokens (pkg/controller/bootstrap, tokencleaner). */
import { type Secret, secretResource } from '../../api/core/v1/secret.ts';
import { type AccountRights, writeEvents } from '../../api/rbac/v1/rule-rows.ts';
import { isTerminating, type ObjectKey, objectKey } from '../../apimachinery/meta.ts';
import {
  type ControllerContext,
  type ControllerDefinition,
  type ReconcileResult,
  watched,
} from '../../controller-runtime/definition.ts';
import { ifPresent } from '../../controller-runtime/if-present.ts';

export const tokenCleanerRights: AccountRights = {
  kubeSystem: [['get list watch delete', 'core', 'secrets'], writeEvents],
};

const isToken = ({ type, metadata }: Secret) =>
  type === 'bootstrap.kubernetes.io/token' && metadata.namespace === 'kube-system';

/**
 * Returns the milliseconds until the token expires, 0 also for an unreadable time, and undefined for a token
 * that never expires.
 */
export function remainingLife({ data = {} }: Secret, now: number): number | undefined {
  if (!data.expiration) return undefined;
  const end = Date.parse(Buffer.from(data.expiration, 'base64').toString('utf8'));
  return Number.isNaN(end) ? 0 : Math.max(0, end - now);
}

export function tokenCleaner({ client, clock, informers, log }: ControllerContext): ControllerDefinition {
  const secrets = informers.informerFor(secretResource).lister;

  async function reconcile(key: ObjectKey): Promise<ReconcileResult | undefined> {
    const secret = secrets.get(key);
    if (!secret || !isToken(secret) || isTerminating(secret)) return undefined;
    const left = remainingLife(secret, clock.now());
    if (left === undefined) return undefined;
    if (left > 0) return { requeueAfter: left };
    const { name, namespace, uid, resourceVersion } = secret.metadata;
    // The precondition protects a token whose expiration has just been extended.
    const preconditions = { uid, resourceVersion };
    await ifPresent(client.resource(secretResource).delete(name, namespace, { preconditions }));
    log.info('deleted an expired bootstrap token', { secret: name });
    return undefined;
  }

  return {
    name: 'token-cleaner',
    workers: 1,
    watches: [watched(secretResource, (secret) => (isToken(secret) ? [objectKey(secret)] : []))],
    reconcile,
  };
}
