/**
 * Settings of tracing on masters and nodes: the endpoint for spans, and the share of traces that are
 * recorded.
 */

import { tracesUrl } from '../../base/tracing/endpoint.ts';
import { share } from '../../base/tracing/share.ts';
import { define } from './setting-values.ts';

export const tracingSettings = define({
  'tracing-endpoint': {
    about: 'collector of OpenTelemetry that gets traces by OTLP over HTTP',
    hint: 'URL',
    usual: 'nothing is traced',
    read: tracesUrl,
  },
  'tracing-sampling-rate': {
    about:
      'share of the traces that begin here which are recorded; one that a client has begun is as the client says',
    hint: 'NUMBER',
    default: '1',
    read: share,
  },
});

export const tracingSettingNames = ['tracing-endpoint', 'tracing-sampling-rate'] as const;
