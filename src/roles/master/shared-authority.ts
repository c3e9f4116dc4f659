/**
 * The authority of a cluster whose masters share an etcd. The first master writes its authority to etcd; the
 * others use that one. It is stored outside `/registry/`, where no request to the API can reach it. Anybody
 * who may read that etcd could already read every Secret (docs/decisions/0007-several-masters.md).
 */

import { authorityHash } from '../../pki/authority-hash.ts';
import type { AgreeOnAuthority } from '../../pki/credentials.ts';
import { isAuthority } from '../../pki/key-pair.ts';
import type { KeyAndCertificate } from '../../pki/x509.ts';
import { KeyExistsError, type Store } from '../../storage/store.ts';

export const authorityKey = '/pki/authority';

/**
 * Returns the function that takes the authority from the store, or stores the own one. `directory` is named
 * in the error for a master that already has a different authority.
 */
export function authorityIn(store: Store, directory: string): AgreeOnAuthority {
  return async (own, make) => {
    const authority = (await readAuthority(store)) ?? (await offerAuthority(store, own ?? (await make())));
    if (own && (own.certificate !== authority.certificate || own.key !== authority.key)) {
      throw new Error(
        `${directory} holds the certificate authority ${authorityHash(own.certificate)}, but the masters on this etcd share ${authorityHash(authority.certificate)}: move ${directory} away to join them, or correct --etcd-endpoints or --data-dir`,
      );
    }
    return authority;
  };
}

/** Stores the authority of a master that was alone, in place of any other, before masters share its etcd. */
export async function publishAuthority(store: Store, authority: KeyAndCertificate): Promise<void> {
  const value = Buffer.from(JSON.stringify(authority));
  const stored = await store.get(authorityKey);
  if (!stored) await store.create(authorityKey, value);
  else if (!value.equals(stored.value)) await store.update(authorityKey, value, stored.revision);
}

/**
 * Stores the authority unless there is one. Resolves to the stored one, which may be that of another master.
 */
export async function offerAuthority(
  store: Store,
  authority: KeyAndCertificate,
  key = authorityKey,
): Promise<KeyAndCertificate> {
  try {
    await store.create(key, Buffer.from(JSON.stringify(authority)));
    return authority;
  } catch (error) {
    if (!(error instanceof KeyExistsError)) throw error;
    const theirs = await readAuthority(store, key);
    if (!theirs) throw new Error(`${key} was removed from etcd meanwhile; start again`);
    return theirs;
  }
}

/** Resolves to the stored authority; undefined if there is none. Rejects if it is damaged. */
export async function readAuthority(store: Store, at = authorityKey): Promise<KeyAndCertificate | undefined> {
  const stored = await store.get(at);
  if (!stored) return undefined;
  const value = parse(stored.value.toString());
  if (typeof value === 'object' && value !== null && 'key' in value && 'certificate' in value) {
    const { key, certificate } = value;
    if (typeof key === 'string' && typeof certificate === 'string' && isAuthority({ key, certificate }))
      return { key, certificate };
  }
  throw new Error(
    `${at} in etcd does not hold a certificate authority: delete the key, and a master that has the authority in <data-dir>/pki writes it again`,
  );
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
