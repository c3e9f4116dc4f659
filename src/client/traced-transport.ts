/** A transport whose requests say in which trace they are made. */
import { currentSpan } from '../base/tracing/current-span.ts';
import { formatTraceparent, traceparentHeader } from '../base/tracing/trace-context.ts';
import type { Transport } from './transport.ts';

/**
 * Only of writes, where `which` says so: what a part of the cluster reads for itself is nobody's to look at, and a write is why its
 * span is worth telling.
 */
export function tracedTransport(transport: Transport, which: 'all' | 'writes'): Transport {
  return {
    request(request) {
      const span = currentSpan();
      if (!span || (which === 'writes' && request.method === 'GET')) return transport.request(request);
      span.keep();
      const headers = { ...request.headers, [traceparentHeader]: formatTraceparent(span.context) };
      return transport.request({ ...request, headers });
    },
    close: () => transport.close(),
  };
}
