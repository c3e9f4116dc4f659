import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { restMs, waitFor } from '../../e2e/harness/wait-for.ts';

describe('the pause of a wait', () => {
  it('is short after a quick probe of a short wait', () => {
    assert.equal(restMs(1, 100), 50);
  });

  it('is twice as long as a slow probe, at most half a second', () => {
    assert.equal(restMs(120, 200), 240);
    assert.equal(restMs(900, 1_000), 500);
  });

  it('grows with the time waited so far, to two seconds at most', () => {
    assert.equal(restMs(1, 4_000), 400);
    assert.equal(restMs(120, 12_000), 1_200);
    assert.equal(restMs(1, 90_000), 2_000);
  });

  it('is at most the pause that a test with a measurement allows', () => {
    assert.equal(restMs(1, 90_000, 10), 10);
    assert.equal(restMs(120, 90_000, 10), 240);
  });
});

describe('a wait', () => {
  it('ends with the first result of its probe, after errors and refusals', async () => {
    const results = [() => undefined, () => false, () => assert.fail('not yet'), () => 7];
    assert.equal(await waitFor('seven', () => results.shift()?.() as number, { intervalMs: 0 }), 7);
  });

  it('fails with the last error of its probe after the deadline', async () => {
    const probe = () => assert.fail('no node');
    const options = { timeoutMs: 0, intervalMs: 0 };
    await assert.rejects(waitFor('a node', probe, options), /^Error: a node: not within 0 s \(.*no node/);
  });
});
