/** Checks the health of a server over gRPC (grpc.health.v1). */
import { onAbort } from '../../../base/abort.ts';
import { type Clock, pause } from '../../../base/clock.ts';
import { goDuration } from '../../../base/time.ts';
import { GrpcClient } from '../../../grpc/client.ts';
import { GrpcError } from '../../../grpc/status.ts';
import { healthCheck, healthFailure, healthOutcome, healthRequest } from '../plan/grpc-health.ts';
import { joinHostPort } from '../plan/handler-port.ts';
import { userAgent } from '../plan/http-request.ts';
import { failure, maxOutputBytes, type Outcome } from '../plan/outcome.ts';

export interface GrpcTarget {
  readonly host: string;
  readonly port: number;
  /** Name of the service; '' for the server as a whole. */
  readonly service: string;
  /** True for TLS, without verifying the certificate. */
  readonly tls: boolean;
}

/** Delay between two attempts to connect. */
const retryMs = 1000;

/**
 * Sends one request over a new connection; while nothing listens on the port, retries until the timeout.
 * Never rejects.
 */
export async function grpcHandler(
  clock: Clock,
  target: GrpcTarget,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<Outcome> {
  const address = joinHostPort(target.host, target.port);
  const within = goDuration(timeoutMs);
  const end = clock.monotonic() + timeoutMs;
  for (;;) {
    const left = end - clock.monotonic();
    const outcome = await check(clock, target, left, within, signal);
    if (outcome) return outcome;
    const next = Math.min(retryMs, end - clock.monotonic());
    await pause(clock, next, signal);
    if (signal.aborted || end - clock.monotonic() <= 0)
      return failure(
        `timeout: failed to connect service ${JSON.stringify(address)} within ${within}: context deadline exceeded`,
      );
  }
}

/** Sends one request; undefined when no connection could be made. */
async function check(
  clock: Clock,
  { host, port, service, tls }: GrpcTarget,
  leftMs: number,
  within: string,
  signal: AbortSignal,
): Promise<Outcome | undefined> {
  const client = new GrpcClient({
    endpoint: `${tls ? 'https' : 'http'}://${joinHostPort(host, port)}`,
    tls: { rejectUnauthorized: false },
    keepaliveMs: 2 * leftMs,
    connectMs: leftMs,
    userAgent: userAgent('probe'),
    maxMessageBytes: maxOutputBytes,
    clock,
  });
  const forget = onAbort(signal, () => client.destroy());
  try {
    return healthOutcome(await client.call(healthCheck, healthRequest(service), leftMs));
  } catch (error) {
    if (!client.wasReady) return undefined;
    if (error instanceof GrpcError) return healthFailure(error, within);
    return failure(
      `error: health rpc probe failed: rpc error: code = Internal desc = ${(error as Error).message}`,
    );
  } finally {
    forget();
    client.destroy();
  }
}
