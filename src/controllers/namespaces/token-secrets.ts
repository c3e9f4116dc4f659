/** Fills the Secrets that hold a token of a service account, and deletes them after their account. */
import { type Secret, secretResource } from '../../api/core/v1/secret.ts';
import { accountOf } from '../../api/core/v1/service-account/secret.ts';
import { serviceAccountResource } from '../../api/core/v1/service-account/service-account.ts';
import type { SignSecretToken } from '../../api/core/v1/service-account/token.ts';
import type { ServiceAccount } from '../../api/core/v1/types.gen.ts';
import type { AccountRights } from '../../api/rbac/v1/rule-rows.ts';
import { type ObjectKey, objectKey } from '../../apimachinery/meta.ts';
import { isConflict } from '../../apimachinery/status-error.ts';
import type { Current } from '../../base/current.ts';
import {
  type ControllerContext,
  type ControllerDefinition,
  type ControllerFactory,
  watched,
} from '../../controller-runtime/definition.ts';
import { ifPresent } from '../../controller-runtime/if-present.ts';
import { tolerate } from '../../controller-runtime/tolerate.ts';
import { filledSecret, planTokenSecret } from './token-secrets-plan.ts';

export const tokenSecretsRights: AccountRights = {
  // Upstream's controller has no account of its own.
  own: [
    ['get', 'core', 'serviceaccounts'],
    ['update delete', 'core', 'secrets'],
  ],
};

export interface TokenSecretsOptions {
  /** Certificate authorities in PEM. */
  readonly authority: Current<string>;
  readonly sign: SignSecretToken;
}

export const tokenSecrets =
  (options: TokenSecretsOptions): ControllerFactory =>
  (context) =>
    controller(context, options);

const byAccount = 'tokens by service account';
const accountsOf = (secret: Secret): readonly string[] => {
  const account = accountOf(secret);
  return account === undefined ? [] : [`${secret.metadata.namespace}/${account}`];
};

function controller(
  { client, informers, log, enqueue }: ControllerContext,
  { authority, sign }: TokenSecretsOptions,
): ControllerDefinition {
  const informer = informers.informerFor(secretResource);
  informer.addIndex(byAccount, accountsOf);
  const secrets = informer.lister;
  const accounts = informers.informerFor(serviceAccountResource).lister;
  const ofAccounts = () => secrets.list().filter((secret) => accountOf(secret) !== undefined);
  authority.onChange(() => enqueue(ofAccounts().map((secret) => objectKey(secret))));

  /** Returns the account of a Secret. The cache may not show an account that was just created. */
  const accountOfSecret = async (secret: Secret): Promise<ServiceAccount | undefined> => {
    const name = accountOf(secret) ?? '';
    const { namespace = '' } = secret.metadata;
    return (
      accounts.get(`${namespace}/${name}`) ??
      (await ifPresent(client.resource(serviceAccountResource).get(name, namespace)))
    );
  };

  const remove = async (secret: Secret): Promise<void> => {
    const { name, namespace = '', uid, resourceVersion } = secret.metadata;
    const preconditions = { uid, resourceVersion };
    const deleted = client.resource(secretResource).delete(name, namespace, { preconditions });
    // The Secret has changed or was replaced; that arrives as an event.
    await ifPresent(tolerate(deleted, isConflict));
    log.info('deleted the token of a service account that no longer exists', { secret: objectKey(secret) });
  };

  const fill = async (secret: Secret, account: ServiceAccount, needsToken: boolean): Promise<void> => {
    const { name, namespace = '' } = secret.metadata;
    const owner = { name: account.metadata.name, uid: account.metadata.uid };
    const token = needsToken ? await sign(namespace, owner, name) : undefined;
    const filled = filledSecret(secret, account, authority.value, token);
    await ifPresent(tolerate(client.resource(secretResource).update(filled), isConflict));
  };

  return {
    name: 'token-secrets',
    watches: [
      watched(secretResource, (secret) => (accountOf(secret) === undefined ? [] : [objectKey(secret)])),
      watched(serviceAccountResource, (account) =>
        secrets.byIndex(byAccount, objectKey(account)).map((secret) => objectKey(secret)),
      ),
    ],
    async reconcile(key: ObjectKey) {
      const secret = secrets.get(key);
      if (!secret || accountOf(secret) === undefined) return undefined;
      const account = await accountOfSecret(secret);
      const plan = planTokenSecret(secret, account, authority.value);
      if (plan.type === 'delete') await remove(secret);
      else if (plan.type === 'fill' && account) await fill(secret, account, plan.needsToken);
      return undefined;
    },
  };
}
