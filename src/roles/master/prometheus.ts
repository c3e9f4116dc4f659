/**
 * The Prometheus of --prometheus-url, queried over HTTP or HTTPS with a timeout and a maximum size of the
 * answer.
 */
import { readFile, stat } from 'node:fs/promises';
import * as http from 'node:http';
import * as https from 'node:https';
import { addressKind } from '../../base/addresses.ts';
import type { Clock } from '../../base/clock.ts';
import { errorMessage } from '../../base/log.ts';
import { trustPublicAuthorities } from '../../base/public-authorities.ts';
import { UsageError } from '../../base/usage-error.ts';
import { explain } from '../../client/https-transport.ts';
import { usualQueries } from '../../controllers/autoscaling/metric-query-plan.ts';
import { type MetricSource, SourceSilent } from '../../controllers/autoscaling/outside-metrics.ts';
import type { Settings } from '../settings/setting-table.ts';
import { readMetricQueries } from './metric-queries-file.ts';
import { parseQueryAnswer } from './prometheus-answer.ts';

const prometheusSettings = [
  'prometheus-url',
  'prometheus-ca',
  'prometheus-token-file',
  'prometheus-queries',
] as const;

/** Prometheus' own timeout is a little shorter than ours, so that its error arrives. */
const queryMs = 4_000;
const answerMs = 5_000;
/** Maximum size of an answer in bytes, enough for some thousand pods. */
const maxAnswerLength = 8 * 1024 * 1024;

type PrometheusSettings = Settings<(typeof prometheusSettings)[number]>;

/**
 * Returns undefined without --prometheus-url. Throws UsageError for files that cannot be used. The source is
 * closed with `started`.
 */
export async function openPrometheus(
  settings: PrometheusSettings,
  clock: Clock,
  started: AsyncDisposableStack,
): Promise<MetricSource | undefined> {
  const {
    'prometheus-url': url,
    'prometheus-ca': caFile,
    'prometheus-token-file': tokenFile,
    'prometheus-queries': queriesFile,
  } = settings;
  if (url === undefined) {
    rejectSettings(settings);
    return undefined;
  }
  const server = new URL(url);
  if (caFile !== undefined && server.protocol !== 'https:')
    throw new UsageError('--prometheus-ca needs an https URL in --prometheus-url');
  if (tokenFile !== undefined) await checkToken(tokenFile, server);
  const ca = caFile === undefined ? undefined : await readText('--prometheus-ca', caFile);
  const queries = queriesFile === undefined ? usualQueries : await readMetricQueries(queriesFile);
  const agent = agentFor(server, ca);
  started.defer(() => agent.destroy());
  return {
    queries,
    async ask(query) {
      const token = tokenFile && (await readText('--prometheus-token-file', tokenFile)).trim();
      const { status, text } = await post({ server, agent, clock, token, query });
      return parseQueryAnswer(status, text);
    },
  };
}

/** Throws UsageError for the first of the settings that is given: they need --prometheus-url. */
function rejectSettings(settings: PrometheusSettings): void {
  for (const name of prometheusSettings)
    if (settings[name] !== undefined) throw new UsageError(`--${name} needs --prometheus-url`);
}

function agentFor(server: URL, ca: string | undefined): http.Agent {
  if (ca === undefined) trustPublicAuthorities();
  const options = { keepAlive: true, maxSockets: 8 };
  return server.protocol === 'https:'
    ? new https.Agent({ ...options, ...(ca !== undefined && { ca }) })
    : new http.Agent(options);
}

async function checkToken(file: string, server: URL): Promise<void> {
  const isHere = server.hostname === 'localhost' || addressKind(server.hostname) === 'loopback';
  if (server.protocol !== 'https:' && !isHere)
    throw new UsageError(
      '--prometheus-token-file needs an https URL in --prometheus-url: others could read the token',
    );
  await readText('--prometheus-token-file', file);
  const { mode } = await stat(file);
  if ((mode & 0o077) !== 0)
    throw new UsageError(
      `--prometheus-token-file: users other than its owner may read ${file}; run chmod 600 ${file}`,
    );
}

async function readText(flag: string, file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new UsageError(`${flag}: cannot read ${file} (${errorMessage(error)})`);
  }
}

interface Question {
  readonly server: URL;
  readonly agent: http.Agent;
  readonly clock: Clock;
  readonly token: string | undefined;
  readonly query: string;
}

/**
 * Rejects with SourceSilent if no answer arrives in time. Redirects are returned, not followed, so that no
 * other server gets the token.
 */
function post({ server, agent, clock, token, query }: Question): Promise<{ status: number; text: string }> {
  const form = new URLSearchParams({ query, timeout: `${queryMs}ms` });
  const silent = (why: string) => new SourceSilent(`Prometheus at ${server.origin} does not answer: ${why}`);
  return new Promise((resolve, reject) => {
    const start = server.protocol === 'https:' ? https.request : http.request;
    const url = new URL(`${server.pathname.replace(/\/$/, '')}/api/v1/query`, server);
    const sent = start(url, {
      agent,
      method: 'POST',
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        accept: 'application/json',
        ...(token && { authorization: `Bearer ${token}` }),
      },
    });
    const timer = clock.after(answerMs, () => sent.destroy(silent(`nothing within ${answerMs / 1000} s`)));
    sent.on('close', () => timer.cancel());
    sent.on('error', (error) => reject(error instanceof SourceSilent ? error : silent(explain(error)[1])));
    sent.on('response', (answer) => {
      const chunks: Buffer[] = [];
      let size = 0;
      answer.on('error', (error) =>
        reject(error instanceof SourceSilent ? error : silent(explain(error)[1])),
      );
      answer.on('data', (chunk: Buffer) => {
        size += chunk.length;
        chunks.push(chunk);
        if (size <= maxAnswerLength) return;
        reject(new Error(`Prometheus answered with more than ${maxAnswerLength} bytes`));
        sent.destroy();
      });
      answer.on('end', () =>
        resolve({ status: answer.statusCode ?? 0, text: Buffer.concat(chunks).toString('utf8') }),
      );
    });
    sent.end(form.toString());
  });
}
