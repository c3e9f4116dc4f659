/** A transport that adds the current trace to its requests. */
import { currentSpan } from '../base/tracing/current-span.ts';
import { formatTraceparent, traceparentHeader } from '../base/tracing/trace-context.ts';
import type { Transport } from './transport.ts';

/**
 * Adds the header `traceparent`, to all requests or only to writes. With 'writes', the cluster's internal
 * reads are not traced. Every request that is traced causes its span to be kept.
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
