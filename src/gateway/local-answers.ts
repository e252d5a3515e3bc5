import type { ServerResponse } from 'node:http';
import type { AgentGrant } from './gateway.ts';

/** The model list: the one model that the key may use, in the shape of both protocol families. */
export function sendModels(response: ServerResponse, grant: AgentGrant): void {
  const model = {
    id: grant.model,
    object: 'model',
    type: 'model',
    display_name: grant.model,
    created: 0,
    created_at: '1970-01-01T00:00:00Z',
    owned_by: 'orchestrator',
  };
  const list = { object: 'list', data: [model], has_more: false, first_id: model.id, last_id: model.id };
  const body = Buffer.from(JSON.stringify(list));
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length });
  response.end(body);
}
