import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { StatusError } from '../../../../src/apimachinery/status-error.ts';
import { negotiateForm } from '../../../../src/apiserver/negotiation/accept.ts';
import { maxListHeaderBytes } from '../../../../src/http/header-limits.ts';

const table = 'application/json;as=Table;v=v1;g=meta.k8s.io';

describe('negotiateForm', () => {
  const cases: readonly [string | undefined, object][] = [
    [undefined, { type: 'object' }],
    ['', { type: 'object' }],
    ['*/*', { type: 'object' }],
    ['application/json, */*;q=0.8', { type: 'object' }],
    ['application/vnd.kubernetes.protobuf, */*', { type: 'object' }],
    [`${table},application/json`, { type: 'table', version: 'v1' }],
    ['application/json;g=meta.k8s.io;v=v1beta1;as=Table', { type: 'table', version: 'v1beta1' }],
    ['application/json;as=Table;v=v2;g=meta.k8s.io,application/json', { type: 'object' }],
    ['application/json;as=Else;v=v1;g=meta.k8s.io,*/*', { type: 'object' }],
    ['application/json; as=PartialObjectMetadata; g=meta.k8s.io; v=v1', { type: 'metadata', version: 'v1' }],
    ['application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1', { type: 'metadata', version: 'v1' }],
    ['Application/JSON', { type: 'object' }],
    ['application/*', { type: 'object' }],
    ['text/html,, application/json', { type: 'object' }],
    [`application/json;q=0.5,${table}`, { type: 'table', version: 'v1' }],
    [`application/json;q=x,${table};q=0.1`, { type: 'table', version: 'v1' }],
    [`*/*,${table}`, { type: 'table', version: 'v1' }],
    [`*/*,application/*;q=1.0,${table}`, { type: 'table', version: 'v1' }],
    [`application/json,${table}`, { type: 'object' }],
    ['application/json;managedFields=none', { type: 'object', unowned: true }],
    ['application/json;managedFields=all', { type: 'object' }],
    ['application/json;asx', { type: 'object' }],
    ['application/json;as', { type: 'object' }],
    [`${'x'.repeat(maxListHeaderBytes - 4)},*/*`, { type: 'object' }],
  ];
  for (const [accept, form] of cases) {
    it(`${accept?.slice(0, 80)} means ${JSON.stringify(form)}`, () =>
      assert.deepEqual(negotiateForm(accept), form));
  }

  for (const accept of [
    'application/vnd.kubernetes.protobuf',
    'text/html',
    'application/json;as=Table;g=x;v=v1',
  ]) {
    it(`${accept} is refused`, () =>
      assert.throws(
        () => negotiateForm(accept),
        (error: unknown) => error instanceof StatusError && error.status.code === 406,
      ));
  }

  it('returns YAML to clients that name it, if the answer can be written in it', () => {
    const yaml = 'application/yaml';
    const asked = (accept: string) => negotiateForm(accept, { yaml: true });
    assert.deepEqual(asked(yaml), { type: 'object', encoding: 'yaml' });
    assert.deepEqual(asked(`${yaml};as=Table;v=v1;g=meta.k8s.io`), {
      type: 'table',
      version: 'v1',
      encoding: 'yaml',
    });
    assert.deepEqual(asked(`application/json,${yaml}`), { type: 'object' });
    assert.deepEqual(negotiateForm(`${yaml},*/*`), { type: 'object' });
    assert.throws(() => negotiateForm(yaml), /only the following media types are accepted/);
    assert.throws(() => asked('text/html'), /, application\/yaml$/);
  });

  it('returns protobuf to clients that name it before JSON, but never a Table', () => {
    const protobuf = 'application/vnd.kubernetes.protobuf';
    const negotiate = (accept: string) => negotiateForm(accept, { protobuf: true });
    assert.deepEqual(negotiate(protobuf), { type: 'object', encoding: 'protobuf' });
    assert.deepEqual(negotiate(`${protobuf},application/json`), { type: 'object', encoding: 'protobuf' });
    assert.deepEqual(negotiate(`${protobuf}, */*`), { type: 'object', encoding: 'protobuf' });
    assert.deepEqual(negotiate(`application/json,${protobuf}`), { type: 'object' });
    assert.deepEqual(negotiate(`${protobuf};q=0.9,application/json`), { type: 'object' });
    for (const any of ['*/*', 'application/*', 'application/json;q=0'])
      assert.deepEqual(negotiate(`${any},${protobuf}`), { type: 'object', encoding: 'protobuf' }, any);
    assert.deepEqual(negotiate(`${protobuf};as=Table;g=meta.k8s.io;v=v1,${table},${protobuf}`), {
      type: 'table',
      version: 'v1',
    });
    assert.deepEqual(negotiateForm(`${protobuf},application/json`), { type: 'object' });
    const partial = 'as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
    assert.deepEqual(negotiate(`${protobuf};${partial}`), {
      type: 'metadata',
      version: 'v1',
      encoding: 'protobuf',
    });
    for (const refused of [
      `${protobuf};as=Table;g=meta.k8s.io;v=v1`,
      `${protobuf};as=Else;g=meta.k8s.io;v=v1`,
      'text/html',
    ])
      assert.throws(() => negotiate(refused), /only the following/, refused);
  });

  it('lists the available forms in the error, and rejects a header that is too long', () => {
    const meta = 'g=meta.k8s.io;v=v1';
    const all = ['', `;as=Table;${meta}`, `;as=PartialObjectMetadata;${meta}`].map(
      (form) => `application/json${form}`,
    );
    const told = (offer: object) => {
      try {
        negotiateForm('text/html', offer);
      } catch (error) {
        return (error as StatusError).message;
      }
      return '';
    };
    const start = 'only the following media types are accepted: ';
    assert.equal(told({}), start + all.join(', '));
    assert.equal(told({ protobuf: true }), `${start}${all.join(', ')}, application/vnd.kubernetes.protobuf`);
    assert.throws(
      () => negotiateForm(`${'x'.repeat(maxListHeaderBytes - 3)},*/*`),
      (error) =>
        error instanceof StatusError && error.status.code === 406 && /longer than/.test(error.message),
    );
  });

  it('refuses a form the endpoint does not have', () => {
    assert.throws(() => negotiateForm(table, { forms: ['object'] }), /only the following media types/);
  });
});
