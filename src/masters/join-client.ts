/** The request with which this machine asks the masters of a cluster to become one of them. */
import { request } from 'node:https';
import { text } from 'node:stream/consumers';
import type { Clock } from '../base/clock.ts';
import { errorMessage } from '../base/log.ts';
import { type JoinAnswer, type JoinRequest, joinPath, readJoinAnswer } from './join-messages.ts';

export interface JoinCall {
  /** URLs such as `https://192.0.2.10:6443`; the first that answers is used. */
  readonly servers: readonly string[];
  /** PEM of the cluster's authority, whose hash was checked. */
  readonly authority: string;
  readonly token: string;
  readonly request: JoinRequest;
  readonly clock: Clock;
}

/** The error if a master refuses the request. */
export class JoinDeniedError extends Error {
  override readonly name = 'JoinDeniedError';
}

/** The error if a master cannot decide yet, for example because another master is joining. */
export class JoinPendingError extends Error {
  override readonly name = 'JoinPendingError';
}

/** Timeout of an answer in milliseconds: the first master restarts its etcd to open the port for peers. */
const answerMs = 60_000;

/**
 * Rejects with JoinDeniedError if a master refuses, with JoinPendingError if one cannot answer yet, and with
 * one line if none answers.
 */
export async function askToJoin(call: JoinCall, signal: AbortSignal): Promise<JoinAnswer> {
  const failures: string[] = [];
  for (const server of call.servers) {
    try {
      return await askOne(server, call, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof JoinDeniedError || error instanceof JoinPendingError) throw error;
      failures.push(`${server} (${errorMessage(error)})`);
    }
  }
  throw new Error(`no master answers: ${failures.join(', ')}; correct --join, or start a master`);
}

async function askOne(
  server: string,
  { authority, token, request: body, clock }: JoinCall,
  signal: AbortSignal,
) {
  const { status, answer } = await post(`${server}${joinPath}`, {
    ...{ authority, token, body: JSON.stringify(body), clock, signal },
  });
  if (status === 200) return readJoinAnswer(answer);
  if (status === 404) throw new JoinDeniedError(`${server} is of an earlier version: upgrade it first`);
  const [line = ''] = answer.split('\n');
  if (status === 503) throw new JoinPendingError(line);
  if (status >= 500) throw new Error(line);
  throw new JoinDeniedError(`${server} refuses this master: ${line}`);
}

interface Post {
  readonly authority: string;
  readonly token: string;
  readonly body: string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

function post(
  url: string,
  { authority, token, body, clock, signal }: Post,
): Promise<{ readonly status: number; readonly answer: string }> {
  return new Promise((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    };
    const asked = request(url, { method: 'POST', ca: authority, agent: false, headers, signal });
    const limit = clock.after(answerMs, () =>
      asked.destroy(new Error(`no answer within ${answerMs / 1000} s`)),
    );
    asked.once('close', () => limit.cancel());
    asked.once('error', reject);
    asked.once('response', (response) => {
      text(response).then((answer) => resolve({ status: response.statusCode ?? 0, answer }), reject);
    });
    asked.end(body);
  });
}
