/**
 * The names of members in the requests and answers of all dialects: those that their documents and SDKs have, of JSON
 * Schema, and what hosts take besides.
 */
const names = `
$defs $ref $schema acknowledged_safety_checks action actions active additional_tools additionalProperties allOf
allow_fallbacks allowed_callers allowed_domains allowed_tools allowedFunctionNames always annotation
annotation_index annotations anthropic_beta anthropic_version anyOf approval_request_id approve approximate args
arguments attributes audio audio_tokens audio_url audioTimestamp authorization authorization_token autoTruncate
background batches best_of betas blocked_domains budget_tokens button bytes cache_control cache_creation
cache_creation_input_tokens cache_id cache_miss_reason cache_missed_input_tokens cache_prompt
cache_read_input_tokens cache_write_tokens cached_tokens cachedContent call_id caller caller_id candidateCount
candidates categories category category_applied_input_types category_scores chat_template_kwargs choices
citation citations cited_text city clear_at_least client_metadata client_tool_results close_tab code
code_interpreter codeExecution codeExecutionResult command commands compact_threshold compaction completed_at
completion_tokens computerUse configs connector_id const container container_id contains content content_block
content_index content_parts contents context context_management conversation coordinate country created
created_at created_by cursor_position custom data default default_config defer_loading definition definitions
defs deleted delta dependentSchemas depth description detail details diagnostics diff dimensions
disable_parallel_tool_use display display_height display_width displayName document document_ids document_index
document_title document_url domain domain_secrets double_click download_id duration eager_input_streaming echo
edits effort else embedContentConfig embedding embedding_weight enable_search enable_thinking enabled
enableEnhancedCivicAnswers encoding_format encrypted_content encrypted_index encrypted_stdout end_block_index
end_char_index end_index end_page_number endOffset enterpriseWebSearch enum env environment
ephemeral_1h_input_tokens ephemeral_5m_input_tokens error error_message errorCode examples exclusiveMaximum
exclusiveMinimum executableCode execution exit_code expires_at explanation externalApi extra_body extra_content
fallback_model fallback_models fallbacks file file_id file_ids file_type file_upload file_url fileData filename
fileSearch fileSearchStoreNames fileUri filter filters find fingerprint finish_reason flagged form_input format
fps frequency_penalty from function functionCall functionCallingConfig functionDeclarations functionResponse
functions generate_summary generateContentRequest generationConfig get_page_text google googleMaps googleSearch
googleSearchRetrieval grammar groundingMetadata guided_choice guided_json guided_regex headers hold_key hover
hybrid_search id if ignore_eos image image_generation image_url imageConfig include include_obfuscation
include_reasoning include_usage includeThoughts incomplete_details index inference_geo inlineData input
input_audio input_examples input_fidelity input_file input_image input_image_mask input_schema input_text
input_tokens_details input_video inputItems inputTokens instructions is_error is_file_update isPartial item
item_id items javascript_exec json_schema keep_alive key keys labels language languageCode latLng left_click
left_click_drag left_mouse_down left_mouse_up lines list_tabs logit_bias logprob logprobs logs max_characters
max_completion_tokens max_content_tokens max_generated_tokens max_new_tokens max_num_results max_output_length
max_side_length_pixels max_tokens max_tokens_to_sample max_tool_calls max_uses maximum maxItems maxLength
maxOutputTokens maxProperties mcp_server_name mcp_servers mcp_tool_use mcp_toolset media_type mediaResolution
memory_limit message messages metadata middle_click mimeType min_p minimum minItems minLength minProperties
modalities mode model models modelSelectionConfig moderation modifiers mouse_move multipleOf n n_predict name
namespace navigate network_policy never new_lines new_start new_tab not nullable num_ctx num_lines num_predict
object old_lines old_start oneOf operation options order outcome output output_compression output_config
output_format output_index output_parsed output_schema output_text output_tokens output_tokens_details
outputDimensionality outputs oversized_image page_age parallel_tool_calls param parameters parametersJsonSchema
parsed parsed_arguments part partial_image_b64 partial_image_index partial_images partial_json partialArgs parts
path paths pattern patternProperties pending_safety_checks phase plugins policy prediction prefixItems
presence_penalty preset previous_interaction_id previous_message_id previous_response_id prompt
prompt_cache_breakpoint prompt_cache_key prompt_cache_options prompt_cache_retention prompt_mode prompt_tokens
properties propertyNames propertyOrdering provider quality queries query ragCorpora ragCorpus ranker
ranking_options read_console read_network read_only read_page reason reasoning reasoning_content
reasoning_details reasoning_effort reasoning_format reasoning_tokens redacted_thinking ref refusal region repeat
repeat_penalty repetition_penalty request_class requests require_approval required response response_format
response_inclusion responseJsonSchema responseLogprobs responseMimeType responseModalities responseSchema result
results retrievalConfig retrieved_at return_code right_click role route routingConfig safe_prompt
safety_identifier safetySettings scheduling schema score score_threshold screenshot scroll scroll_amount
scroll_direction scroll_to scroll_x scroll_y search_content_types search_context_size search_parameters
search_result search_result_index seed sequence_number server_description server_label server_name
server_tool_results server_tool_use server_url serviceTier signature size size_bytes skill_id skills source
sources speechConfig speed start_block_index start_char_index start_coordinate start_index start_line
start_page_number starting_after startOffset state_changes status stderr stdout stop stop_details stop_reason
stop_sequence stopSequences store stream stream_options streamableHttpTransport strict stringValue
structured_outputs suffix summary summary_index summary_text switch_tab syntax system system_fingerprint
systemInstruction tab_id tabs target task_budget taskType temperature text text_weight then think thinking
thinking_tokens thinkingBudget thinkingConfig thinkingLevel thought thoughtSignature thread threshold timeout_ms
timezone title token tool tool_addition tool_call_id tool_calls tool_changes tool_choice tool_configuration
tool_definition tool_id tool_name tool_names tool_reference tool_references tool_result tool_use tool_use_id
toolCall toolConfig toolContext toolResponse tools toolset_name top_a top_logprobs topK topP total_lines
total_tokens transcript transformations transforms triple_click truncation ttl tunnel_id type typical_p
uniqueItems unsupported url url_citation url_sources urlContext usage use_cache user user_id user_input
user_location user_profile_id value variables vector_store_ids verbosity version vertexAiSearch video_url
videoMetadata voice wait web_fetch web_fetch_requests web_search web_search_call web_search_options
web_search_requests willContinue working_directory workspace_id x y zoom
`;

const known = new Set(names.split(/\s+/).map(folded));
/** A list's element; a longer number may be a key of the client's, and any number that is one says little. */
const elementNumber = /^\d{1,5}$/;
/** In place of a key that must not be disclosed. */
const hiddenStep = '*';

/** Google's APIs take each name with capitals and with underscores. */
function folded(name: string): string {
  return name.replaceAll('_', '').toLowerCase();
}

/**
 * A JSON pointer for records and refusals, in which names that no dialect has are hidden: such a key is what somebody wrote.
 * A place that is not a pointer, such as a header, stays.
 */
export function shownPlace(place: string): string {
  if (!place.startsWith('/')) return place;
  const isShown = (step: string) => step === '' || elementNumber.test(step) || known.has(folded(step));
  return place
    .split('/')
    .map((step) => (isShown(step) ? step : hiddenStep))
    .join('/');
}
