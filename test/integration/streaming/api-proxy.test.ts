/** pods/proxy and services/proxy over TLS: real clients, real backends, two servers between. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { after, before, describe, it } from 'node:test';
import type { TLSSocket } from 'node:tls';
import { gzipSync } from 'node:zlib';
import { echo, echoed, namespace, Proxied, portOf } from './proxied.ts';

describe('the proxy of the API server', () => {
  let proxied: Proxied;
  before(async () => {
    proxied = await Proxied.start();
  });
  after(() => proxied.stop());

  for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
    it(`passes ${method} on`, async () => {
      proxied.handle = echo;
      const body = method === 'GET' ? undefined : 'some body';
      const answer = await proxied.ask(proxied.toPod('/a/b?c=d&e'), {
        method,
        ...(body && { body, headers: { 'content-length': '9' } }),
      });
      assert.equal(answer.status, 200, answer.text);
      const { headers, ...rest } = echoed(answer);
      assert.deepEqual(rest, { method, url: '/a/b?c=d&e', body: body ?? '' });
      assert.equal(headers['content-length'], body && '9');
    });
  }

  it('passes HEAD on, with the headers of a body', async () => {
    proxied.handle = echo;
    const answer = await proxied.ask(proxied.toPod('/x'), { method: 'HEAD' });
    assert.equal(answer.status, 200);
    assert.equal(answer.headers['x-method'], 'HEAD');
    assert.equal(answer.text, '');
  });

  it('keeps the path as written, and the host', async () => {
    proxied.handle = echo;
    const seen = echoed(
      await proxied.ask(proxied.toPod('//a%2Fb/%20/c;d//'), { headers: { host: 'cluster:6443' } }),
    );
    assert.equal(seen.url, '//a%2Fb/%20/c;d//');
    assert.equal(seen.headers.host, 'cluster:6443');
    assert.equal(seen.headers['x-forwarded-for'], '127.0.0.1');
    assert.equal(seen.headers['x-forwarded-uri'], proxied.toPod('//a%2Fb/%20/c;d//'));
  });

  it('sends the length 0 for a write without a body', async () => {
    proxied.handle = echo;
    const { headers } = echoed(await proxied.ask(proxied.toPod('/'), { method: 'POST' }));
    assert.equal(headers['content-length'], '0');
    assert.equal(headers['transfer-encoding'], undefined);
  });

  it('passes no credentials of the client on to a backend', async () => {
    const certificates: unknown[] = [];
    proxied.handle = (request, response) => {
      const { authorized, ...socket } = request.socket as TLSSocket;
      certificates.push((request.socket as TLSSocket).getPeerCertificate());
      assert.ok(socket);
      assert.equal(authorized, false);
      void echo(request, response);
    };
    const headers = { authorization: 'Bearer s3cret', cookie: 'a=b' };
    const seen = echoed(
      await proxied.ask(`${namespace}/pods/https:web:${portOf(proxied.secure)}/proxy/`, { headers }),
    );
    assert.equal(seen.headers.authorization, undefined);
    assert.equal(seen.headers.cookie, 'a=b');
    const impersonating = await proxied.ask(`${namespace}/pods/https:web:${portOf(proxied.secure)}/proxy/`, {
      headers: { 'impersonate-user': 'x' },
    });
    assert.equal(impersonating.status, 403);
    assert.deepEqual(certificates, [{}], 'the backend requested a certificate and got none');
  });

  it('reaches a Service by name and number of its port, plain and encrypted', async () => {
    proxied.handle = (request, response) => response.end(`encrypted: ${'encrypted' in request.socket}`);
    const answers = ['web:http', 'web:80', 'http:web:http', 'https:web:tls', 'https:web:443'].map((id) =>
      proxied.ask(`${namespace}/services/${id}/proxy/`),
    );
    assert.deepEqual(
      (await Promise.all(answers)).map(({ text }) => text),
      ['encrypted: false', 'encrypted: false', 'encrypted: false', 'encrypted: true', 'encrypted: true'],
    );
  });

  it('redirects GET and HEAD without a path to the path /, and passes other methods on', async () => {
    proxied.handle = echo;
    const { status, headers } = await proxied.ask(`${proxied.toPod('')}?method=GET`);
    assert.equal(status, 301);
    assert.equal(headers.location, `${proxied.toPod('/')}?method=GET`);
    assert.equal((await proxied.ask(proxied.toPod(''), { method: 'HEAD' })).status, 301);
    const { url } = echoed(await proxied.ask(`${proxied.toPod('')}?method=POST`, { method: 'POST' }));
    assert.equal(url, '/?method=POST');
  });

  it('rewrites redirects and links so that they lead through the proxy', async () => {
    proxied.handle = (_, response) => response.writeHead(302, { location: '/login?a=b' }).end();
    const moved = await proxied.ask(proxied.toPod('/x'));
    assert.equal(moved.status, 302);
    assert.equal(moved.headers.location, proxied.toPod('/login?a=b'));
    proxied.handle = (_, response) => {
      response.setHeader('content-type', 'text/html');
      response.end(`<a href="/rewriteme">test</a><a href="http://10.0.0.1:${portOf(proxied.backend)}/x">`);
    };
    const page = await proxied.ask(proxied.toPod('/'));
    assert.equal(
      page.text,
      `<a href="${proxied.toPod('/rewriteme')}">test</a><a href="${proxied.toPod('/x')}">`,
    );
    proxied.handle = (_, response) => {
      response.writeHead(200, { 'content-type': 'text/html', 'content-encoding': 'gzip' });
      response.end(gzipSync('<a href="/rewriteme">test</a>'));
    };
    const compressed = await proxied.ask(proxied.toPod('/'));
    assert.equal(compressed.headers['content-encoding'], undefined);
    assert.equal(compressed.text, `<a href="${proxied.toPod('/rewriteme')}">test</a>`);
  });

  it('passes on the status, the cookies and a body that is not HTML unchanged', async () => {
    const body = gzipSync('{"href":"/x"}');
    proxied.handle = (_, response) => {
      response.writeHead(418, [
        ...[
          'content-type',
          'application/json',
          'content-encoding',
          'gzip',
          'content-length',
          String(body.length),
        ],
        ...['set-cookie', 'a=1', 'set-cookie', 'b=2'],
      ]);
      response.end(body);
    };
    const sent = proxied.open(proxied.toPod('/'));
    sent.end();
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk);
    assert.equal(response.statusCode, 418);
    assert.deepEqual(response.headers['set-cookie'], ['a=1', 'b=2']);
    assert.equal(response.headers['content-length'], String(body.length));
    assert.deepEqual(Buffer.concat(chunks), body);
  });

  for (const status of [204, 304]) {
    it(`passes an answer without a body back (${status})`, async () => {
      proxied.handle = (_, response) => response.writeHead(status, { etag: '"x"' }).end();
      const answer = await proxied.ask(proxied.toPod('/'));
      assert.equal(answer.status, status);
      assert.equal(answer.headers.etag, '"x"');
    });
  }

  it('passes an empty document on', async () => {
    proxied.handle = (_, response) =>
      response.writeHead(200, { 'content-type': 'text/html', 'content-encoding': 'gzip' }).end();
    const answer = await proxied.ask(proxied.toPod('/'));
    assert.equal(answer.status, 200);
    assert.equal(answer.text, '');
  });

  it('streams bodies in both directions', async () => {
    proxied.handle = (request, response) => {
      response.setHeader('content-type', 'text/html');
      response.flushHeaders();
      request.on('data', (chunk: Buffer) => response.write(`<a href="/${chunk}">`));
      request.on('end', () => response.end('end'));
    };
    const sent = proxied.open(proxied.toPod('/'), {
      method: 'POST',
      headers: { 'transfer-encoding': 'chunked' },
    });
    sent.flushHeaders();
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    for (const word of ['one', 'two']) {
      const next = once(response, 'data');
      sent.write(word);
      assert.equal(String((await next)[0]), `<a href="${proxied.toPod(`/${word}`)}">`);
    }
    const last = once(response, 'data');
    sent.end();
    assert.equal(String((await last)[0]), 'end');
  });

  it('reads from the client only as fast as the backend reads', async () => {
    const waiting = Promise.withResolvers<IncomingMessage>();
    proxied.handle = (request, response) => {
      waiting.resolve(request);
      response.writeHead(200);
      response.flushHeaders();
      request.once('end', () => response.end());
    };
    const sent = proxied.open(proxied.toPod('/'), {
      method: 'PUT',
      headers: { 'transfer-encoding': 'chunked' },
    });
    const answered = once(sent, 'response') as Promise<[IncomingMessage]>;
    const chunk = Buffer.alloc(1024 * 1024);
    let written = 0;
    let full = false;
    while (!full && written < 256) {
      written++;
      const taken = await Promise.race([
        new Promise<boolean>((resolve) => sent.write(chunk, () => resolve(true))),
        new Promise<boolean>((resolve) => setTimeout(() => resolve(false), 1000)),
      ]);
      full = !taken;
    }
    assert.ok(full, `${written} MiB were taken of which the backend has read nothing`);
    const request = await waiting.promise;
    let read = 0;
    request.on('data', (piece: Buffer) => (read += piece.length));
    sent.end();
    const [response] = await answered;
    response.resume();
    await once(response, 'end');
    assert.equal(read, written * chunk.length);
  });

  it('ends a request whose client has disconnected', async () => {
    const gone = Promise.withResolvers<void>();
    const asked = Promise.withResolvers<void>();
    proxied.handle = (request) => {
      request.socket.once('close', () => gone.resolve());
      asked.resolve();
    };
    const silent = proxied.open(proxied.toPod('/'));
    silent.on('error', () => undefined);
    silent.end();
    await asked.promise;
    silent.destroy();
    await gone.promise;
  });

  it('ends an answer whose client has disconnected', async () => {
    const gone = Promise.withResolvers<void>();
    proxied.handle = (_, response) => {
      response.once('close', () => gone.resolve());
      response.write('beginning');
    };
    const reading = proxied.open(proxied.toPod('/'));
    reading.on('error', () => undefined);
    reading.end();
    const [response] = (await once(reading, 'response')) as [IncomingMessage];
    response.on('error', () => undefined);
    await once(response, 'data');
    reading.destroy();
    await gone.promise;
  });

  for (const headers of [{ 'content-length': '100' }, { 'content-type': 'text/html' }] as const) {
    it(`breaks off an answer that the backend breaks off: ${JSON.stringify(headers)}`, async () => {
      proxied.handle = (_, response) => {
        response.writeHead(200, headers);
        response.write('beginning', () => response.destroy());
      };
      await assert.rejects(proxied.ask(proxied.toPod('/')), /aborted/);
    });
  }
});
