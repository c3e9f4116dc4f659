/**
 * The API server accepts the output of `ctl convert` for every supported form of other systems' manifests.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Ctl, ctlFor } from '../../fixtures/ctl.ts';
import { dialectManifests } from '../../fixtures/dialect-manifests.ts';
import { type HttpsTestServer, startHttpsTestServer } from '../../fixtures/https-api-server.ts';

let server: HttpsTestServer;
let ctl: Ctl;
before(async () => {
  server = await startHttpsTestServer();
  ctl = ctlFor(await server.kubeconfigFor('admin', ['system:masters']));
});
after(() => server.stop());

describe('output of ctl convert', () => {
  for (const { form, text, specs, notes } of dialectManifests)
    it(`is taken by the API server: ${form}`, async () => {
      const { status, out, err } = await ctl(['convert', '-f', '-'], { stdin: text });
      assert.equal(status, 0, err);
      assert.equal(err.match(/^Note: STDIN:\d+: /gm)?.length ?? 0, notes.length, err);
      const applied = await ctl(['apply', '--dry-run=server', '-f', '-'], { stdin: out });
      assert.deepEqual([applied.status, applied.out.split('\n').length - 1], [0, specs.length], applied.err);
    });
});
