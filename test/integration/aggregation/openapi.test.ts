/** OpenAPI of extension servers is part of the documents of the API server, in both versions. */
import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { after, before, describe, it } from 'node:test';
import { systemClock } from '../../../src/base/clock.ts';
import { replaceable } from '../../../src/base/current.ts';
import { createAuthority, issueCertificate } from '../../../src/pki/x509.ts';
import { startTestServer, type TestServer } from '../../fixtures/api-server.ts';
import { eventually } from '../../fixtures/eventually.ts';
import {
  addExtensionService,
  apiService,
  type ExtensionServer,
  encoded,
  extensionResources,
  services,
  setAvailable,
  startExtensionServer,
  usualAnswer,
} from '../../fixtures/extension-server.ts';

const validity = { notBefore: Date.now() - 3_600_000, notAfter: Date.now() + 86_400_000 };
const gvk = { group: 'ext.example', version: 'v1', kind: 'Thing' };
const meta = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta';

const documentV3 = (color: string) => ({
  openapi: '3.0.0',
  info: { title: 'ext', version: 'v1' },
  paths: {
    '/apis/ext.example/v1/namespaces/{namespace}/things': { get: { operationId: 'listThings' } },
  },
  components: {
    schemas: {
      'example.ext.v1.Thing': {
        type: 'object',
        description: 'Thing has a color.',
        properties: { color: { type: 'string', description: color } },
        'x-kubernetes-group-version-kind': [gvk],
      },
    },
  },
});

const documentV2 = {
  swagger: '2.0',
  info: { title: 'ext', version: 'v1' },
  parameters: { 'pretty-1': { name: 'pretty', in: 'query', type: 'string' } },
  paths: {
    '/apis/ext.example/v1/namespaces/{namespace}/things': {
      parameters: [{ $ref: '#/parameters/pretty-1' }],
      get: {
        operationId: 'listThings',
        responses: { 200: { description: 'OK' } },
        'x-kubernetes-group-version-kind': gvk,
      },
    },
    '/apis/apps/v1/namespaces/{namespace}/deployments': { get: { operationId: 'taken' } },
  },
  definitions: {
    'example.ext.v1.Thing': {
      type: 'object',
      properties: { metadata: { $ref: `#/definitions/${meta}` }, color: { type: 'string' } },
      'x-kubernetes-group-version-kind': [gvk],
    },
    [meta]: { type: 'object', properties: { name: { type: 'integer' } } },
    'example.ext.v1.Unused': { type: 'object' },
    'example.ext.v1.Broken': {
      type: 'object',
      required: 7,
      'x-kubernetes-group-version-kind': [gvk],
    },
  },
};

describe('the OpenAPI of an extension server', () => {
  let server: TestServer;
  let extension: ExtensionServer;
  const stopping = new AbortController();
  let color = 'the first';
  before(async () => {
    const authority = await createAuthority('front-proxy', validity.notBefore, validity.notAfter);
    const client = await issueCertificate(authority, {
      commonName: 'front-proxy-client',
      usages: ['client'],
      ...validity,
    });
    extension = await startExtensionServer(authority);
    extension.answerBy(answer);
    server = await startTestServer({
      clock: systemClock,
      nodeConnection: extension.agents,
      frontProxy: { client: replaceable(client) },
    });
    await addExtensionService(server);
    const made = await server.call('POST', services, apiService({ caBundle: encoded(extension.authority) }));
    assert.equal(made.status, 201, made.text);
    await setAvailable(server, 'v1.ext.example');
  });
  after(async () => {
    stopping.abort();
    await server.stop();
    await extension.stop();
  });

  function answer(request: IncomingMessage, response: ServerResponse): void {
    const send = (body: object) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    const url = `/openapi/v3/apis/ext.example/v1?hash=${color.length}`;
    if (request.url === '/openapi/v3') send({ paths: { 'apis/ext.example/v1': { serverRelativeURL: url } } });
    else if (request.url === url) send(documentV3(color));
    else if (request.url === '/openapi/v2') send(documentV2);
    else usualAnswer(request, response);
  }

  const until = <T>(what: string, probe: () => Promise<T | undefined>) =>
    eventually(systemClock, what, probe);
  const read = async <T>(path: string): Promise<T> => (await server.call('GET', path)).json<T>();
  /** Changes the APIService, so that its server is queried at once. */
  const ask = async (asked: string) => {
    const headers = { 'content-type': 'application/merge-patch+json' };
    const change = { metadata: { annotations: { asked } } };
    const { status } = await server.call('PATCH', `${services}/v1.ext.example`, change, { headers });
    assert.equal(status, 200);
  };
  const indexed = async (): Promise<string | undefined> => {
    const { paths } = await read<{ paths: Record<string, { serverRelativeURL: string }> }>('/openapi/v3');
    return paths['apis/ext.example/v1']?.serverRelativeURL;
  };

  it('is listed with its hash, and served unchanged', async () => {
    const url = await until('the document in the index', indexed);
    const found = await server.call('GET', url);
    assert.deepEqual(found.json(), documentV3(color));
    assert.match(found.headers.get('cache-control') ?? '', /immutable/);
  });

  it('changes its hash when the server changes its descriptions', async () => {
    const former = await indexed();
    color = 'the second one';
    await ask('again');
    const url = await until('another hash', async () => {
      const now = await indexed();
      return now === former ? undefined : now;
    });
    assert.match((await server.call('GET', url)).text, /the second one/);
  });

  it('is merged into version 2 without changes to the built-in descriptions', async () => {
    const own = 'io.k8s.api.core.v1.ConfigMap';
    const found = await read<{
      paths: Record<string, { get?: { operationId: string; parameters: { name: string }[] } }>;
      definitions: Record<string, { properties: Record<string, { $ref?: string; type?: string }> }>;
    }>('/openapi/v2');
    const { paths, definitions } = found;
    const things = paths['/apis/ext.example/v1/namespaces/{namespace}/things'];
    assert.deepEqual(things?.get?.parameters, [{ name: 'pretty', in: 'query', type: 'string' }]);
    assert.notEqual(paths['/apis/apps/v1/namespaces/{namespace}/deployments']?.get?.operationId, 'taken');
    assert.equal(
      definitions['example.ext.v1.Thing']?.properties.metadata?.$ref,
      `#/definitions/${meta}_v2`,
      'a definition of the same name for another type',
    );
    assert.equal(definitions[`${meta}_v2`]?.properties.name?.type, 'integer');
    assert.equal(definitions[meta]?.properties.name?.type, 'string');
    assert.equal(definitions['example.ext.v1.Unused'], undefined);
    assert.equal(definitions['example.ext.v1.Broken'], undefined);
    assert.ok(definitions[own]);
  });

  it('is part of the document in protobuf', async () => {
    const accept = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';
    const found = await server.call('GET', '/openapi/v2', undefined, { headers: { accept } });
    assert.equal(found.status, 200);
    assert.match(found.text, /example\.ext\.v1\.Thing/);
  });

  it('does not delay discovery while the server hangs', async () => {
    const waiting: boolean[] = [];
    let plural = 'things';
    extension.answerBy((request, response) => {
      if (request.url?.startsWith('/openapi')) {
        const index = waiting.push(true) - 1;
        response.once('close', () => {
          waiting[index] = false;
        });
        return;
      }
      const [thing] = extensionResources.resources;
      const changed = { ...extensionResources, resources: [{ ...thing, name: plural }] };
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(changed));
    });
    await ask('hanging');
    await until('a request that waits', async () => waiting.length > 0 || undefined);
    plural = 'novelties';
    await ask('another kind');
    const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
    await until('the other kind', async () => {
      const { text } = await server.call('GET', '/apis', undefined, { headers: { accept } });
      return text.includes('novelties') || undefined;
    });
    assert.equal(waiting[0], true, 'the first request still waits');
  });

  it('is kept while the server hangs, and is removed with its APIService', async () => {
    extension.answerBy(() => undefined);
    assert.ok(await indexed());
    assert.equal((await server.call('DELETE', `${services}/v1.ext.example`)).status, 200);
    await until('the index without it', async () => ((await indexed()) === undefined ? true : undefined));
    assert.equal((await server.call('GET', '/openapi/v3/apis/ext.example/v1')).status, 404);
    assert.doesNotMatch((await server.call('GET', '/openapi/v2')).text, /example\.ext\.v1/);
  });
});
