/** Contents of a part in the archive, and the message about an incomplete one. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { type BundlePart, makeBundle, maxOfPart } from '../../../../src/roles/support/bundle.ts';
import { leftOut, SecretFilter } from '../../../../src/roles/support/without-secrets.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';

const secret = 'known-Secret-31';

async function bundleOf(parts: readonly BundlePart[], clock = new FakeClock()) {
  const filter = new SecretFilter([secret]);
  const { archive, missing } = await makeBundle(parts, { clock, filter, folder: 'f' });
  return { text: gunzipSync(archive).toString('latin1'), missing };
}

describe('makeBundle', () => {
  it('keeps the end of a long part, but no remainder of a secret that the cut divides', async () => {
    const cut = `beginning ${secret}${'y'.repeat(maxOfPart - 5)}`;
    for (const part of [{ isClean: true } as const, {}]) {
      const { text: found, missing } = await bundleOf([{ name: 'a.txt', ...part, read: async () => cut }]);
      assert.ok(!found.includes(secret.slice(-5)), 'the end of the secret is there');
      assert.match(missing.join(), /^a\.txt: only its last \d+ characters are here$/);
    }
  });

  it('continues after a part that fails, and one that does not arrive in time', async () => {
    const clock = new FakeClock();
    const parts: BundlePart[] = [
      { name: 'failed', read: () => Promise.reject(new Error(`no ${secret}`)) },
      { name: 'late', read: () => new Promise(() => undefined) },
      { name: 'last', read: async () => 'it is there' },
    ];
    const made = bundleOf(parts, clock);
    await clock.advance(30_000);
    const { text, missing } = await made;
    assert.deepEqual(missing, [`failed: no ${leftOut}`, 'late: not read within 30 s']);
    assert.match(text, /f\/last\0/);
    assert.match(text, /it is there/);
    assert.ok(text.includes(`failed: no ${leftOut}\nlate: not read within 30 s\n`));
  });
});
