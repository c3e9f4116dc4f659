/**
 * Terms of leadership: they keep a leader that was frozen, cut off or slow from writing after another one
 * took over.
 *
 * A term is a number greater than every one before it. A leader begins a term by writing it to a key that all
 * candidates share, and from then on each write of the leader is a transaction that also compares that key.
 * So once a term has begun, no write of an earlier term can happen any more, however late it arrives; and a
 * read after the begin of a term includes all writes of earlier terms. No clock is involved.
 */
import {
  type Claim,
  ClaimLostError,
  type Claims,
  KeyExistsError,
  RevisionMismatchError,
  type Store,
} from './store.ts';

/**
 * Begins a term. Rejects with ClaimLostError if a later term has begun. Returns the claim that the leader's
 * writes must hold.
 */
export async function beginTerm(store: Store, name: string, term: number): Promise<Claim> {
  const claim: Claim = { key: `/claims/terms/${name}`, owner: String(term) };
  for (;;) {
    const current = await store.get(claim.key);
    // NaN if no term has begun, which is neither before nor after.
    const before = Number(current?.value.toString());
    if (before > term) throw new ClaimLostError(claim, String(before));
    try {
      if (current) await store.update(claim.key, Buffer.from(claim.owner), current.revision);
      else await store.create(claim.key, Buffer.from(claim.owner));
      return claim;
    } catch (error) {
      // Another candidate wrote first: its term decides.
      if (!(error instanceof KeyExistsError) && !(error instanceof RevisionMismatchError)) throw error;
    }
  }
}

/** Returns the store for the leader of a term: its writes only happen during the term. */
export function duringTerm(store: Store, term: Claim, onOver: (why: string) => void): Store {
  const held = (claims: Claims | undefined): Claims => ({
    ...claims,
    holding: [...(claims?.holding ?? []), term],
  });
  const noticed = async <T>(write: Promise<T>): Promise<T> => {
    try {
      return await write;
    } catch (error) {
      if (error instanceof ClaimLostError && error.claim === term.key) onOver(error.message);
      throw error;
    }
  };
  return {
    ...store,
    create: (key, value, claims) => noticed(store.create(key, value, held(claims))),
    update: (key, value, expected, claims) => noticed(store.update(key, value, expected, held(claims))),
    delete: (key, expected, claims) => noticed(store.delete(key, expected, held(claims))),
  };
}
