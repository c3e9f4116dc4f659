/** The files that `ctl diff` compares. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { lastAppliedAnnotation } from '../../../../src/apimachinery/last-applied.ts';
import { fileNameOf, textsOf } from '../../../../src/cli/apply/diff-files.ts';

const object = (kind: string, data: Record<string, string>, more = {}) => ({
  apiVersion: 'v1',
  kind,
  metadata: { name: 'x', ...more },
  data,
});

describe('the file name of an object', () => {
  it('has version, kind, namespace and name', () => {
    const web = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web', namespace: 'shop' } };
    assert.equal(fileNameOf(web), 'apps.v1.Deployment.shop.web');
  });
  it('stays inside the folder for any answer of the server', () => {
    const name = '../../etc/passwd';
    assert.equal(
      fileNameOf({ apiVersion: 'v1', kind: 'A/B', metadata: { name } }),
      'v1.A_B...._.._etc_passwd',
    );
  });
});

describe('the texts of an object', () => {
  it('are empty for a state that does not exist', () => {
    const [before, after] = textsOf(undefined, object('ConfigMap', { a: 'b' }));
    assert.equal(before, '');
    assert.match(after, /^ {2}a: b$/m);
  });

  it('have managed fields only on request', () => {
    const map = object('ConfigMap', {}, { managedFields: [{ manager: 'm' }] });
    assert.doesNotMatch(textsOf(map, map)[0], /managedFields/);
    assert.match(textsOf(map, map, { managedFields: true })[0], /managedFields/);
  });

  it('show of a Secret only which values differ', () => {
    const [before, after] = textsOf(
      object('Secret', { same: 'c2FtZQ==', changed: 'b2xk', gone: 'Z29uZQ==' }),
      object('Secret', { same: 'c2FtZQ==', changed: 'bmV3', added: 'YWRk' }),
    );
    const values = (text: string) =>
      Object.fromEntries(
        [...text.matchAll(/^ {2}(\w+): (.*\*.*)$/gm)].map(([, key, value]) => [
          key,
          value?.replaceAll(/["']/g, ''),
        ]),
      );
    assert.deepEqual(values(before), { same: '***', changed: '*** (before)', gone: '***' });
    assert.deepEqual(values(after), { same: '***', changed: '*** (after)', added: '***' });
    assert.doesNotMatch(before + after, /c2FtZQ|b2xk|bmV3|Z29uZQ|YWRk/);
  });

  it('leave out the annotation that repeats the data of a Secret', () => {
    const annotations = { [lastAppliedAnnotation]: '{"data":{"a":"c2VjcmV0"}}', mine: 'kept' };
    const text = textsOf(object('Secret', { a: 'c2VjcmV0' }, { annotations }), undefined).join('');
    assert.doesNotMatch(text, /c2VjcmV0/);
    assert.match(text, /mine: kept/);
  });
});
