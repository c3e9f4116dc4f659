import assert from 'node:assert/strict';
import { test } from 'node:test';
import { descriptionText } from '../../../../../src/cli/describe/describe-object.ts';
import { dnsDescriber } from '../../../../../src/features/host-names/ctl/describe.ts';

test('the description of a Dns has the address of each path, and marks a missing Service', () => {
  const object = {
    metadata: { name: 'shop', namespace: 'shop' },
    spec: {
      host: 'shop.example',
      paths: [
        { serviceName: 'web', servicePort: 80 },
        { path: '/api', serviceName: 'api', servicePort: 81 },
      ],
    },
    status: { conditions: [{ type: 'Ready', status: 'False', reason: 'NoService', message: 'no api' }] },
  };
  const services = { items: [{ metadata: { name: 'web' }, spec: { clusterIP: '10.96.0.9' } }] };
  const text = descriptionText(dnsDescriber, object, { related: { services }, events: undefined, now: 0 });
  assert.match(text, /^ {2}http:\/\/shop\.example\/ +web:80 +10\.96\.0\.9$/m);
  assert.match(text, /^ {2}http:\/\/shop\.example\/api +api:81 +<not found>$/m);
  assert.match(text, /^ {2}Ready +False +NoService +no api$/m);
});
