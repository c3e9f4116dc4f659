/**
 * Terms of leadership: what keeps a leader that was frozen, cut off or slow from writing after another took over.
 *
 * A term is a number greater than every one before it. Who begins one writes it to a key that all candidates for the
 * leadership share, and from then on each write of the leader is a transaction that also compares that key. So
 * once a term has begun, no write of an earlier one can happen any more, however late it arrives; and whoever reads
 * after beginning a term sees all that was written in those before it. No clock is part of this.
 */
import {
  type Claim,
  ClaimLostError,
  type Claims,
  KeyExistsError,
  RevisionMismatchError,
  type Store,
} from './store.ts';

/** Rejects with ClaimLostError when a later term has begun. The claim is what the leader's writes hold. */
export async function beginTerm(store: Store, name: string, term: number): Promise<Claim> {
  const claim: Claim = { key: `/claims/terms/${name}`, owner: String(term) };
  for (;;) {
    const current = await store.get(claim.key);
    // Of a term that never began NaN, which is neither before nor after.
    const before = Number(current?.value.toString());
    if (before > term) throw new ClaimLostError(claim, String(before));
    try {
      if (current) await store.update(claim.key, Buffer.from(claim.owner), current.revision);
      else await store.create(claim.key, Buffer.from(claim.owner));
      return claim;
    } catch (error) {
      // Another candidate wrote first: who it was decides.
      if (!(error instanceof KeyExistsError) && !(error instanceof RevisionMismatchError)) throw error;
    }
  }
}

/** The store as the leader of a term has it: its writes happen only during the term. */
export function duringTerm(store: Store, term: Claim, onOver: (why: string) => void): Store {
  const held = (claims: Claims | undefined): Claims => ({
    ...claims,
    holding: [...(claims?.holding ?? []), term],
  });
  const told = async <T>(write: Promise<T>): Promise<T> => {
    try {
      return await write;
    } catch (error) {
      if (error instanceof ClaimLostError && error.claim === term.key) onOver(error.message);
      throw error;
    }
  };
  return {
    ...store,
    create: (key, value, claims) => told(store.create(key, value, held(claims))),
    update: (key, value, expected, claims) => told(store.update(key, value, expected, held(claims))),
    delete: (key, expected, claims) => told(store.delete(key, expected, held(claims))),
  };
}
