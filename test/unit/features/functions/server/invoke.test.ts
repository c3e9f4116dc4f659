/** Calls of functions through the API. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { StatusError } from '../../../../../src/apimachinery/status-error.ts';
import type { RequestScope } from '../../../../../src/apiserver/request/request-scope.ts';
import { StreamedAnswer } from '../../../../../src/apiserver/transport/streamed-answer.ts';
import { maxKept } from '../../../../../src/features/functions/server/call-body.ts';
import { maxBodyBytes } from '../../../../../src/features/functions/server/exchange.ts';
import { invokeFunction } from '../../../../../src/features/functions/server/invoke.ts';
import { InstancePrograms } from './instance-programs.ts';

type GivenBody = ConstructorParameters<typeof Response>[0];

interface Shape {
  readonly method?: string;
  readonly rest?: string;
  readonly url?: string;
  readonly headers?: Record<string, string>;
  readonly body?: GivenBody;
  readonly user?: string;
  readonly isInProcess?: boolean;
  readonly name?: string;
}

async function invoke(shape: Shape = {}, answer?: readonly [status: number, text: string]) {
  const programs = new InstancePrograms();
  const program = programs.add('one');
  if (answer)
    program.answer = (_, respond) => void respond.writeHead(answer[0], { 'x-own': 'yes' }).end(answer[1]);
  const { method = 'POST', rest = '', url = 'http://gateway.test/function/f/a?b=1', headers = {} } = shape;
  const { clock, random } = programs;
  const scope = {
    info: { namespace: 'default', name: shape.name ?? 'f', rest },
    request: new Request(url, {
      ...{ method, headers, duplex: 'half' },
      ...(shape.body !== undefined && shape.body !== null && { body: shape.body }),
    } as RequestInit),
    server: { clock, random },
    ...{ user: { name: shape.user ?? 'alice', groups: [] }, signal: new AbortController().signal },
    remoteAddress: shape.isInProcess ? undefined : '192.0.2.1',
  } as unknown as RequestScope;
  const result: { answer?: Response; error?: unknown } = {};
  Promise.resolve(invokeFunction(programs.gateway, programs.connections)(scope)).then(
    (given) => {
      result.answer = given;
    },
    (error: unknown) => {
      result.error = error;
    },
  );
  // An async function that throws before anything is awaited rejects as well.
  await clock.advance(1000);
  const code = result.error instanceof StatusError ? result.error.status.code : undefined;
  return { ...result, code, program, programs, asked: program.asked[0] };
}

describe('a call through the API', () => {
  it('is made with its method, path, query and host, and is answered as the function answers', async () => {
    const { answer, asked } = await invoke({ rest: '/a', body: 'in', headers: { 'content-length': '2' } }, [
      201,
      'out',
    ]);
    assert.ok(answer instanceof StreamedAnswer);
    assert.deepEqual(
      [answer.status, await answer.text(), answer.fields.includes('x-own')],
      [201, 'out', true],
    );
    assert.deepEqual([asked?.method, asked?.path, asked?.body], ['POST', '/a?b=1', 'in']);
    assert.deepEqual(
      [asked?.headers.host, asked?.headers['x-forwarded-uri'], asked?.headers['x-forwarded-for']],
      ['gateway.test', '/function/f/a', '192.0.2.1'],
    );
  });
  it('without a path is a call of the path /', async () => {
    assert.equal((await invoke()).asked?.path, '/?b=1');
    assert.equal((await invoke({ url: 'http://gateway.test/function/f' })).asked?.path, '/');
  });
  it('is answered with status and headers if there is no body', async () => {
    const { answer } = await invoke({}, [204, '']);
    assert.deepEqual([answer?.status, answer?.body, answer?.headers.get('x-own')], [204, null, 'yes']);
  });
  it('is rejected if the function does not exist', async () => {
    const { code, asked } = await invoke({ name: 'g' });
    assert.deepEqual([code, asked], [404, undefined]);
  });
  it('has the headers of triggers only if it comes from the trigger controller', async () => {
    const headers = { 'function-trigger-depth': '3' };
    const user = 'system:serviceaccount:kube-system:trigger-controller';
    assert.equal((await invoke({ headers, user })).asked?.headers['function-trigger-depth'], '3');
    assert.equal((await invoke({ headers })).asked?.headers['function-trigger-depth'], undefined);
  });
});

describe('the body of a call through the API', () => {
  const lengthOf = (asked: Awaited<ReturnType<typeof invoke>>['asked']) => [
    ...[asked?.headers['content-length'], asked?.headers['transfer-encoding'], asked?.body],
  ];
  it('is complete if the caller is in this process', async () => {
    const { asked } = await invoke({ isInProcess: true, body: 'in' });
    assert.deepEqual(lengthOf(asked), ['2', undefined, 'in']);
    assert.deepEqual(lengthOf((await invoke({ isInProcess: true })).asked), ['0', undefined, '']);
  });
  it('is empty if its length is 0, and absent without a length', async () => {
    const headers = { 'content-length': '0' };
    assert.deepEqual(lengthOf((await invoke({ headers })).asked), ['0', undefined, '']);
    assert.deepEqual(lengthOf((await invoke({ method: 'GET', headers })).asked), ['0', undefined, '']);
    assert.deepEqual(lengthOf((await invoke({ method: 'GET' })).asked), [undefined, undefined, '']);
    assert.deepEqual(lengthOf((await invoke({ body: 'in' })).asked), ['0', undefined, '']);
    assert.deepEqual(lengthOf((await invoke({ headers: { 'content-length': '5' } })).asked), [
      '0',
      undefined,
      '',
    ]);
  });
  it('is sent if it has one byte', async () => {
    const headers = { 'content-length': '1' };
    assert.deepEqual(lengthOf((await invoke({ headers, body: 'x' })).asked), ['1', undefined, 'x']);
  });
  it('is buffered if it arrives in chunks and is small, and is forwarded in chunks if it is large', async () => {
    const headers = { 'transfer-encoding': 'chunked' };
    assert.deepEqual(lengthOf((await invoke({ headers, body: 'in' })).asked), ['2', undefined, 'in']);
    const large = 'x'.repeat(maxKept + 1);
    assert.deepEqual(lengthOf((await invoke({ headers, body: large })).asked), [undefined, 'chunked', large]);
  });
  it('is rejected and not sent if its length is above the limit', async () => {
    const of = async (length: number) => {
      const { code, asked } = await invoke({ body: 'in', headers: { 'content-length': String(length) } });
      return [code, asked !== undefined];
    };
    assert.deepEqual(await of(maxBodyBytes + 1), [413, false]);
    assert.deepEqual(await of(maxBodyBytes), [undefined, true]);
  });
});
