/**
 * Answers the calls of a function: HTTP/1.1 on PORT, by the contract of docs/decisions/0059-functions.md.
 * Runs on Node 18 or newer, without packages.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';

const { env } = process;

/**
 * Waits until the agent has put the function's files into this instance and has sent the signal that they are
 * complete. Only an instance of a warm pool waits.
 */
async function untilGiven() {
  const given = new URL('given.json', import.meta.url);
  let resume = () => {};
  const signaled = new Promise((resolvePromise) => {
    resume = resolvePromise;
  });
  const leave = () => process.exit(0);
  process.on('SIGURG', () => resume());
  process.once('SIGTERM', leave);
  // Signal handlers alone do not keep the process alive.
  const alive = setInterval(() => {}, 2 ** 30);
  const read = () => JSON.parse(readFileSync(given, 'utf8')).env;
  let own;
  try {
    // The signal may have arrived before its handler was installed: SIGURG then does nothing (signal(7)).
    own = read();
  } catch {
    await signaled;
    own = read();
  }
  clearInterval(alive);
  process.off('SIGTERM', leave);
  process.on('SIGURG', () => {});
  Object.assign(env, own);
  delete env.FUNCTION_WAITS;
}

if (env.FUNCTION_WAITS) await untilGiven();

function number(name, otherwise) {
  const found = Number(env[name] || otherwise);
  if (found > 0) return found;
  return fail(`${name} must be a number above 0, not ${JSON.stringify(env[name])}`);
}

/** Ends the process before it listens, because the function cannot be loaded. */
function fail(message) {
  process.stderr.write(`${message}\n`);
  return process.exit(1);
}

const port = number('PORT', 8080);
const concurrency = number('FUNCTION_CONCURRENCY', 10);
const timeoutMs = number('FUNCTION_TIMEOUT_SECONDS', 30) * 1000;
/** Maximum bytes of a request's body and of a result. */
const mostBody = number('FUNCTION_MAX_BODY', 6 * 1024 * 1024);
/** Milliseconds beyond its timeout after which a call is stuck. */
const stuckMs = number('FUNCTION_STUCK_SECONDS', 5) * 1000;
const {
  FUNCTION_NAME: functionName = '',
  FUNCTION_NAMESPACE: namespace = '',
  FUNCTION_VERSION: version = '',
} = env;

const mostError = 4096;
const mostTrace = 32 * 1024;
const terminationLog = env.FUNCTION_TERMINATION_LOG || '/dev/termination-log';
/** Maximum characters, the same as for a condition. */
const mostTermination = 2000;
/** Maximum number of files that are checked for a syntax error. */
const mostChecked = 50;
/** Time and bytes for which answers are remembered, for clients that send a call again. */
const rememberMs = 600_000;
const rememberBytes = 16 * 1024 * 1024;
/**
 * Maximum time that a repeated call is in transit. The age of a call is measured when it is sent, so a call
 * may be older here by that time.
 */
const transitMs = 5_000;
const idleMs = 600_000;
const readMs = 30_000;
/** Milliseconds during which the rest of a rejected request is still read and dropped. */
const lingerMs = 5000;
const drainMs = 2_000;
const json = 'application/json';
const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const headerValue = /^[\t\x20-\x7e\x80-\xff]*$/;
const resultKeys = new Set(['statusCode', 'headers', 'body', 'isBase64']);
/** Headers that belong to the connection. */
const connectionHeaders = new Set([
  'connection',
  'content-length',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** A request that is answered without calling the handler. */
class Refused extends Error {
  constructor(status, message, notCalled) {
    super(message);
    const headers = notCalled ? { 'Function-Not-Called': notCalled } : {};
    this.answer = { status, headers, type: json, body: Buffer.from(JSON.stringify({ error: message })) };
  }
}

/** Thrown when the handler returned a value that cannot be sent. */
class InvalidResult extends Error {
  name = 'InvalidResult';
}

const tooLarge = () => new Refused(413, `a body may have at most ${mostBody} bytes`);

// Output of a handler is written before the handler continues, so that nothing is buffered for a slow reader.
for (const { _handle: handle } of [process.stdout, process.stderr]) handle?.setBlocking?.(true);

// ---- the handler

const candidates = (module) => ['.js', '.mjs', '.cjs'].map((ending) => resolve(`${module}${ending}`));

/**
 * Ends the process with the reason why the program cannot be loaded: `main.js:3: SyntaxError: Unexpected
 * token ';'`, then the program's own lines of the trace. Kubernetes shows the termination log in the
 * container's status; everything printed goes into the container's log.
 */
function cannotLoad(error) {
  const folder = `${process.cwd()}/`;
  const own = (text) => text.replaceAll('file://', '').replaceAll(folder, '');
  const all = String(error?.stack ?? error).split('\n');
  const frames = all.filter(
    (line) => /^ +at /.test(line) && line.includes(folder) && !line.includes('/node_modules/'),
  );
  let place = /([^\s()]+:\d+):\d+\)?$/.exec(own(frames[0] ?? ''))?.[1];
  // The stack of a syntax error contains no file of the program.
  if (error instanceof SyntaxError) place = syntaxFault() ?? place;
  const message = all.filter((line) => !/^ +at /.test(line)).map(own);
  const summary = error instanceof Error ? `${error.name}: ${own(error.message)}` : message.join(' ');
  const text = [`${place ? `${place}: ` : ''}${summary}`, ...frames.map(own)].join('\n');
  // The file exists only where the kubelet has mounted one.
  if (existsSync(terminationLog)) {
    try {
      writeFileSync(terminationLog, text.slice(0, mostTermination));
    } catch {
      // The container's log has the text too.
    }
  }
  return fail(text.slice(0, mostTrace));
}

/**
 * Returns `main.js:3` for the first of the program's files that Node cannot parse; no code of the program
 * runs.
 */
function syntaxFault() {
  const files = readdirSync('.', { recursive: true }).filter(
    (file) => /\.[cm]?js$/.test(file) && !file.split('/').includes('node_modules'),
  );
  for (const file of files.sort().slice(0, mostChecked)) {
    const { status, stderr } = spawnSync(process.execPath, ['--check', file], { encoding: 'utf8' });
    const line = /^\S*?:(\d+)$/m.exec(stderr ?? '')?.[1];
    if (status !== 0 && line !== undefined) return `${file}:${line}`;
  }
  return undefined;
}

async function loadHandler(name) {
  const at = name.lastIndexOf('.');
  if (at <= 0)
    return fail(
      `FUNCTION_HANDLER must be MODULE.FUNCTION, such as main.handler, not ${JSON.stringify(name)}`,
    );
  const [module, wanted] = [name.slice(0, at), name.slice(at + 1)];
  const path = candidates(module).find((file) => existsSync(file));
  if (path === undefined) return fail(`there is no ${module}.js, ${module}.mjs or ${module}.cjs`);
  const found = await import(pathToFileURL(path).href).catch(cannotLoad);
  const handler = found[wanted] ?? found.default?.[wanted] ?? found.default;
  if (typeof handler !== 'function') return fail(`${path} exports no function ${wanted}`);
  return handler;
}

// ---- calls

/** Calls in progress, with the time by which each must have ended. */
const underWay = new Map();
let ending = false;
let stuck = false;
let watch;

function begin() {
  if (ending) throw new Refused(503, 'this instance is stopping', 'stopping');
  if (stuck) throw new Refused(503, 'this instance ends because a call is stuck', 'stuck');
  if (underWay.size >= concurrency) throw new Refused(503, `this instance has ${concurrency} calls`, 'busy');
  const key = Symbol('call');
  underWay.set(key, performance.now() + timeoutMs);
  beat();
  if (!watch) look();
  return key;
}

function end(key) {
  underWay.delete(key);
  beat();
  if (ending && underWay.size === 0) process.exit(0);
  if (stuck) look();
}

/**
 * Checks for stuck calls. A handler cannot be stopped from outside, so the process ends once all other calls
 * have been answered.
 */
function look() {
  clearTimeout(watch);
  watch = undefined;
  beat();
  stuck = false;
  if (underWay.size === 0) return;
  const now = performance.now();
  const left = [...underWay.values()].map((deadline) => deadline + stuckMs - now);
  const ahead = left.filter((ms) => ms > 0);
  stuck = ahead.length < left.length;
  if (stuck && ahead.length === 0) {
    process.stderr.write(`a call runs for more than ${(timeoutMs + stuckMs) / 1000} s: this instance ends\n`);
    process.exit(70);
  }
  watch = setTimeout(look, Math.min(...ahead, 1000 + timeoutMs / 2));
  watch.unref();
}

/** The number of calls in progress, and a counter that changes while the event loop runs. */
const beats = new Int32Array(new SharedArrayBuffer(8));

function beat() {
  Atomics.store(beats, 0, underWay.size);
  Atomics.add(beats, 1, 1);
}

/** Ends the process when code blocks the event loop: a thread checks that the counter still changes. */
function watchLoop() {
  const source = `
    const { beats, limitMs } = require('node:worker_threads').workerData;
    for (let last = -1, since = Date.now(); ; ) {
      Atomics.wait(beats, 1, Atomics.load(beats, 1), 1000);
      const beat = Atomics.load(beats, 1);
      if (beat !== last || Atomics.load(beats, 0) === 0) [last, since] = [beat, Date.now()];
      else if (Date.now() - since > limitMs) {
        require('node:fs').writeSync(2, 'a call blocks the event loop: this instance ends\\n');
        process.kill(process.pid, 'SIGKILL');
      }
    }`;
  const limitMs = timeoutMs * 1.5 + stuckMs + 1000;
  const resourceLimits = { maxOldGenerationSizeMb: 16 };
  new Worker(source, { eval: true, workerData: { beats, limitMs }, resourceLimits, env: {} }).unref();
}

/**
 * Answers of calls that must be made only once, by their ids, in the order in which the calls ended. Calls in
 * progress are in `waiting`.
 */
const remembered = new Map();
const waiting = new Map();
let rememberedBytes = 0;
/** Every call that was first sent after this time and arrived here is known. */
let forgottenUntil = performance.now();

function remember(id, answer, began) {
  const size = answer.body.length + id.length + 500;
  remembered.set(id, { answer, size, began, ended: performance.now() });
  rememberedBytes += size;
  for (const [oldest, one] of remembered) {
    if (rememberedBytes <= rememberBytes && performance.now() - one.ended <= rememberMs) break;
    forget(oldest);
    forgottenUntil = Math.max(forgottenUntil, Math.min(performance.now(), one.began + transitMs));
  }
}

function forget(id) {
  const found = remembered.get(id);
  if (!found) return;
  rememberedBytes -= found.size;
  remembered.delete(id);
}

/**
 * Returns how many seconds ago the call may first have been sent; undefined for a call that may be made more
 * than once.
 */
function onceOf(headers) {
  const text = headers['function-once'];
  if (text === undefined || !headers['function-call-id']) return undefined;
  const seconds = Number(text);
  if (!(seconds >= 0)) throw new Refused(400, 'Function-Once must be a number of seconds');
  return seconds;
}

/**
 * Returns the answer of a known call, or a claim for a call that has certainly not been made here; later
 * requests with its id then wait for its answer. Throws Refused when an earlier call cannot be excluded.
 */
function claim(id, seconds) {
  const found = remembered.get(id)?.answer ?? waiting.get(id);
  if (found) return { answer: Promise.resolve(found).then((answer) => answer ?? notMade().answer) };
  if (performance.now() - forgottenUntil < seconds * 1000)
    throw new Refused(404, 'this instance may have forgotten the call', 'unknown');
  let settle;
  const outcome = new Promise((resolvePromise) => {
    settle = resolvePromise;
  });
  waiting.set(id, outcome);
  return { id, outcome, settle };
}

const notMade = () => new Refused(503, 'the call was not made', 'gone');

/** Releases a claim whose handler was not called after all. */
function drop({ id, outcome, settle }) {
  if (waiting.get(id) === outcome) waiting.delete(id);
  settle(undefined);
}

// ---- one call

function queryOf(target) {
  const at = target.indexOf('?');
  const query = Object.create(null);
  if (at < 0) return query;
  for (const [key, value] of new URLSearchParams(target.slice(at + 1)))
    query[key] = key in query ? [query[key], value].flat() : value;
  return query;
}

const pathOf = (target) => target.split('?', 1)[0];

/** Returns the event for the handler: the JSON body, or for another type an object with the request. */
function eventOf(request, body) {
  if (body.length === 0) return {};
  const { headers, method, url } = request;
  const type = (headers['content-type'] ?? json).split(';', 1)[0].trim().toLowerCase();
  const text = utf8(body);
  // A form never begins with a brace: this is the type that `curl -d '{…}'` sends.
  const isJson =
    type === json ||
    type.endsWith('+json') ||
    (type === 'application/x-www-form-urlencoded' && text?.trimStart().startsWith('{'));
  if (isJson) {
    if (text === undefined) throw new Refused(400, 'the body is not JSON: it is not UTF-8');
    try {
      return JSON.parse(text);
    } catch (error) {
      throw new Refused(400, `the body is not JSON: ${error.message}`);
    }
  }
  const isBase64 = text === undefined;
  const content = isBase64 ? body.toString('base64') : text;
  return { body: content, isBase64, headers: { ...headers }, method, path: pathOf(url), query: queryOf(url) };
}

const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function utf8(bytes) {
  try {
    return strictUtf8.decode(bytes);
  } catch {
    return undefined;
  }
}

function contextOf(request, callId, deadline) {
  const { method, headers, url } = request;
  return {
    callId,
    functionName,
    namespace,
    version,
    method,
    path: pathOf(url),
    query: queryOf(url),
    headers: { ...headers },
    /** Returns the milliseconds that the call may still take. */
    getRemainingTimeInMillis: () => Math.max(0, Math.floor(deadline - performance.now())),
    /** Writes a line with the id of the call to the log. */
    log: (...words) => console.error(`[${callId}]`, ...words),
  };
}

/** Returns the answer for a handler's result: JSON, bytes, or {statusCode, headers, body}. */
function answerOf(result) {
  if (isResponse(result)) return asResponse(result);
  if (result instanceof Uint8Array)
    return within({ status: 200, headers: {}, type: 'application/octet-stream', body: Buffer.from(result) });
  return within({ status: 200, headers: {}, type: json, body: asJson(result) });
}

const isResponse = (result) =>
  typeof result === 'object' &&
  result !== null &&
  'statusCode' in result &&
  Object.keys(result).every((key) => resultKeys.has(key));

function asResponse({ statusCode: status, headers, body = '', isBase64 = false }) {
  if (!Number.isInteger(status) || status < 200 || status > 599)
    throw new InvalidResult(
      `statusCode must be a number from 200 to 599, not ${String(status).slice(0, 100)}`,
    );
  const { kept, type } = headersOf(headers ?? {});
  const answer = (otherwise, bytes) =>
    within({ status, headers: kept, type: type ?? otherwise, body: bytes });
  if (body instanceof Uint8Array) return answer('application/octet-stream', Buffer.from(body));
  if (typeof body !== 'string') return answer(json, asJson(body));
  if (!isBase64) return answer('text/plain; charset=utf-8', Buffer.from(body));
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(body) || body.length % 4 !== 0)
    throw new InvalidResult('body is not base64');
  return answer('application/octet-stream', Buffer.from(body, 'base64'));
}

function headersOf(headers) {
  if (typeof headers !== 'object' || Array.isArray(headers))
    throw new InvalidResult('headers must be an object');
  const kept = {};
  let type;
  for (const [name, value] of Object.entries(headers)) {
    const values = [value].flat().map(String);
    requireHeader(name, values);
    if (name.toLowerCase() === 'content-type') type = values.join(', ');
    else kept[name] = values;
  }
  return { kept, type };
}

/** Throws InvalidResult if a function may not set the header. */
function requireHeader(name, values) {
  if (!token.test(name) || !values.every((one) => headerValue.test(one)))
    throw new InvalidResult(`the header ${JSON.stringify(name).slice(0, 100)} is not valid`);
  const lower = name.toLowerCase();
  if (connectionHeaders.has(lower) || lower.startsWith('function-'))
    throw new InvalidResult(`the header ${name} cannot be set by a function`);
}

function within(answer) {
  if (answer.body.length <= mostBody) return answer;
  throw new InvalidResult(`the result has ${answer.body.length} bytes; the maximum is ${mostBody}`);
}

function asJson(value) {
  let text;
  try {
    text = JSON.stringify(value === undefined ? null : value);
  } catch (error) {
    throw new InvalidResult(`the result is not JSON: ${error.message}`);
  }
  if (text === undefined) throw new InvalidResult(`the result is not JSON: it is a ${typeof value}`);
  return Buffer.from(text);
}

/** Returns the answer for an error: its message only; the trace is for the log. */
function errorAnswer(error) {
  let [type, message] = ['Error', ''];
  try {
    if (error instanceof Error) [type, message] = [String(error.name || 'Error'), String(error.message)];
    else message = typeof error === 'string' ? error : (JSON.stringify(error) ?? String(error));
  } catch {
    // The error has no readable message.
  }
  const body = Buffer.from(JSON.stringify({ error: `${type}: ${message.slice(0, mostError)}` }));
  const headers = { 'Function-Error': type.replace(/[^\w.-]/g, '_').slice(0, 100) || 'Error' };
  return { status: 500, headers, type: json, body };
}

function logTrace(error, callId) {
  let trace;
  try {
    trace = String(error?.stack ?? error);
  } catch {
    trace = 'an error that cannot be printed';
  }
  process.stderr.write(`[${callId}] ${trace.slice(0, mostTrace)}\n`);
}

let calls = 0;

async function callHandler(handler, request, body, deadline, claimed) {
  const began = performance.now();
  const callId = request.headers['function-call-id'] ?? `local-${++calls}`;
  const event = eventOf(request, body);
  if (claimed) claimed.isCalled = true;
  let answer;
  try {
    answer = answerOf(await handler(event, contextOf(request, callId, deadline)));
  } catch (error) {
    logTrace(error, callId);
    answer = errorAnswer(error);
  }
  if (claimed) {
    waiting.delete(claimed.id);
    remember(claimed.id, answer, began);
    claimed.settle(answer);
  }
  return answer;
}

// ---- HTTP

/**
 * Resolves with the body; rejects for one that is too large. With `keep` false the body is dropped, so that
 * the next request can be read.
 */
function readBody(request, keep) {
  return new Promise((resolvePromise, reject) => {
    const parts = [];
    let total = 0;
    request.on('data', (part) => {
      total += part.length;
      if (total > mostBody) reject(tooLarge());
      else if (keep) parts.push(part);
    });
    request.on('end', () => resolvePromise(parts.length === 1 ? parts[0] : Buffer.concat(parts)));
    request.on('error', reject);
    request.on('close', () => reject(new Error('the client has gone')));
  });
}

function send(response, answer, close = false) {
  if (response.destroyed) return;
  writeHead(response, answer, close);
  response.end(hasBody(answer) ? answer.body : undefined);
}

/**
 * Answers and ends the connection, after the rest of the request or `lingerMs`. The kernel resets a
 * connection that is closed with unread bytes (RFC 9112 §9.6), and then the client may not see the answer.
 */
function sendEarly(request, response, answer) {
  if (response.destroyed) return;
  writeHead(response, answer, true);
  response.write(answer.body);
  const end = () => {
    clearTimeout(late);
    response.end();
  };
  const late = setTimeout(end, lingerMs);
  request.once('end', end).once('close', end).resume();
}

function sendRefusal(response, error, close) {
  if (error instanceof Refused) send(response, error.answer, close);
  else response.destroy();
}

const hasBody = ({ status }) => status !== 204 && status !== 304;

function writeHead(response, { status, headers, type, body }, close) {
  const all = { ...headers };
  if (status !== 204) {
    all['Content-Length'] = body.length;
    if (type) all['Content-Type'] = type;
  }
  if (close || ending) all.Connection = 'close';
  response.sendDate = false;
  response.writeHead(status, all);
}

function requireReadable(headers) {
  if (Number(headers['content-length'] ?? 0) > mostBody) throw tooLarge();
  const coding = headers['transfer-encoding'];
  if (coding !== undefined && coding.toLowerCase() !== 'chunked')
    throw new Refused(400, 'the only Transfer-Encoding is chunked');
}

/** Returns a place for a call, or how to get the answer of an earlier call with the same id. */
function admit(headers) {
  const id = headers['function-call-id'] ?? '';
  const once = onceOf(headers);
  if (once === undefined) return { key: begin() };
  const claimed = claim(id, once);
  if (!claimed.settle) return { again: () => claimed.answer };
  try {
    return { key: begin(), claimed };
  } catch (refused) {
    drop(claimed);
    throw refused;
  }
}

async function serve(handler, request, response, expects) {
  // The field maySend is true once a client that waits for permission to send (100-continue) has the
  // permission.
  const state = { admitted: undefined, isRead: false, maySend: !expects };
  try {
    requireReadable(request.headers);
    state.admitted = await admitOrRead(request, expects, state);
    if (expects) response.writeContinue();
    state.maySend = true;
    send(response, await answerToCall(handler, request, state));
  } catch (error) {
    const isEarly = !state.isRead && state.maySend && error instanceof Refused;
    if (isEarly) sendEarly(request, response, error.answer);
    else sendRefusal(response, error, !state.isRead);
  } finally {
    if (state.admitted) release(state.admitted, response);
  }
}

/** Admits the call. The body of a refused call is read, unless its client waits for permission to send it. */
async function admitOrRead(request, expects, state) {
  try {
    return admit(request.headers);
  } catch (refused) {
    if (!expects) await readBody(request, false);
    state.isRead = !expects;
    throw refused;
  }
}

async function answerToCall(handler, request, state) {
  const { again, key, claimed } = state.admitted;
  const body = await readBody(request, !again);
  state.isRead = true;
  return again ? again() : callHandler(handler, request, body, underWay.get(key), claimed);
}

function release({ key, claimed }, response) {
  if (claimed && !claimed.isCalled) drop(claimed);
  if (key === undefined) return;
  // A call is in progress until its answer has been sent.
  if (response.writableFinished || response.destroyed) end(key);
  else response.once('close', () => end(key));
}

function stop(server) {
  let stopping = false;
  return () => {
    if (stopping) return;
    stopping = true;
    // Clients need some time until they send no more calls to this instance.
    setTimeout(() => {
      ending = true;
      server.close();
      if (underWay.size === 0) process.exit(0);
    }, drainMs);
  };
}

const leaveNow = () => process.exit(0);
// The handler is installed before the program is loaded: loading may take long, and the pod may be deleted.
process.once('SIGTERM', leaveNow);

const handler = await loadHandler(env.FUNCTION_HANDLER || 'main.handler');

const server = createServer({
  keepAliveTimeout: idleMs,
  headersTimeout: readMs,
  requestTimeout: readMs + timeoutMs,
  connectionsCheckingInterval: readMs,
  maxHeaderSize: 64 * 1024,
  noDelay: true,
});
server.maxConnections = 512 + 2 * concurrency;
server.on('request', (request, response) => void serve(handler, request, response, false));
server.on('checkContinue', (request, response) => void serve(handler, request, response, true));
server.on('error', (error) => fail(`cannot listen on port ${port}: ${error.message}`));
server.listen({ port, backlog: 1024 }, () => {
  process.off('SIGTERM', leaveNow);
  process.on('SIGTERM', stop(server));
  watchLoop();
});
