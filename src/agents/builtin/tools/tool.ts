import { z } from 'zod';
import type { Assignment, ToolCall } from '../../runner.ts';
import type { ToolDefinition, ToolOutcome } from '../toolbox.ts';
import { failed } from './outcome.ts';
import { type WorkerClient, WorkerFailure } from './worker-client.ts';

/** What a call may use. Nothing in a tool's input can reach the view, the policy or the limits. */
export interface ToolContext {
  readonly assignment: Assignment;
  readonly worker: WorkerClient;
  readonly call: ToolCall;
  readonly turn: number;
  readonly signal: AbortSignal;
  /** How generated files come about, for the refusal of a write to one. */
  readonly generatedSources: readonly { readonly output: string; readonly command: string }[];
}

export interface Tool {
  readonly definition: ToolDefinition;
  execute(context: ToolContext): Promise<ToolOutcome>;
}

/** A tool whose input is parsed by a strict schema: an unknown key is an error result, like any wrong input. */
export function defineTool<Shape extends z.ZodRawShape>(tool: {
  readonly name: string;
  readonly description: string;
  readonly input: Shape;
  readonly execute: (input: z.output<z.ZodObject<Shape, z.core.$strict>>, context: ToolContext) => Promise<ToolOutcome>;
}): Tool {
  const schema = z.strictObject(tool.input);
  const { $schema: _, ...inputSchema } = z.toJSONSchema(schema, { io: 'input' });
  return {
    definition: { name: tool.name, description: tool.description, inputSchema },
    execute: async (context) => {
      const parsed = schema.safeParse(context.call.input);
      if (!parsed.success) return failed(`Wrong input for ${tool.name}:\n${z.prettifyError(parsed.error)}`);
      try {
        return await tool.execute(parsed.data, context);
      } catch (error) {
        if (error instanceof WorkerFailure) return failed(error.message);
        throw error;
      }
    },
  };
}
