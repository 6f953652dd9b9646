/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lies.h - one wrong word each in the tables of a struct mem_plugin, and the part of the sentence
 * that must name it.  Included twice by test_verify.c, which says what LIE is.
 */
LIE(plugin_size, "size is 16", m->plugin.size = 16)
LIE(plugin_size_huge, "size is 8192", m->plugin.size = 8192)
LIE(major, "operator ABI 2.0; this holorun has 1.0", m->plugin.abi_major = 2)
LIE(draft, "draft 9 of operator ABI 1.0; this holorun has draft", m->plugin.abi_draft = 9)
LIE(plugin_name, "the plugin has no name", m->plugin.name = NULL)
LIE(plugin_name_empty, "the plugin has no name", m->plugin.name = "")
LIE(plugin_version, "no version", m->plugin.version = NULL)
LIE(plugin_license, "no license", m->plugin.license = "")
LIE(ops_null, "list of ops has no address", m->plugin.ops = NULL)
LIE(ops_many, "claims 100000 ops", m->plugin.n_ops = 100000)
LIE(op_null, "op number 0 has no address", m->list[0] = NULL)
LIE(op_twice, "there twice for one device", m->list[1] = &m->op; m->plugin.n_ops = 2)
LIE(op_size, "at least", m->op.size = 32)
LIE(op_name_null, "has no name", m->op.name = NULL)
LIE(op_name_flat, "'family/name'", m->op.name = "op")
LIE(op_name_three, "'family/name'", m->op.name = "a/b/c")
LIE(op_name_space, "'family/name'", m->op.name = "test/my op")
LIE(op_name_at, "'family/name'", m->op.name = "test/op@x")
LIE(op_doc, "has no doc", m->op.doc = "")
LIE(op_flags, "unknown flag bits 0x80000000", m->op.flags = 1u << 31)
LIE(op_device, "unknown device 2", m->op.device = 2)
LIE(op_state, "state_size is 2147483648", m->op.state_size = 1u << 31)
LIE(op_align, "state_align is 48", m->op.state_align = 48)
LIE(op_process, "no process()", m->op.process = NULL)
LIE(op_closes, "HOP_F_CLOSES without axes", m->op.flags = HOP_F_CLOSES; m->op.axes.count = 0;
    m->op.afters.count = 0)
LIE(op_maps, "HOP_F_MAPS without", m->op.flags = HOP_F_MAPS; m->op.ports.count = 1)
LIE(op_params_size, "params_size is 2097152", m->op.params_size = 2 << 20)

LIE(ports_at, "port table has 2 rows but no address", m->op.ports.at = NULL)
LIE(ports_many, "port table has 5000 rows", m->op.ports.count = 5000)
LIE(ports_stride, "port table has a stride of 8", m->op.ports.stride = 8)
LIE(ports_stride_odd, "port table has a stride of", m->op.ports.stride += 1)
LIE(params_stride, "parameter table has a stride", m->op.params.stride = 0)
LIE(counters_at, "counter table has 1 rows but no address", m->op.counters.at = NULL)
LIE(axes_at, "axis table has 1 rows but no address", m->op.axes.at = NULL)
LIE(afters_at, "dependence table has 1 rows but no address", m->op.afters.at = NULL)

LIE(port_name, "port number 1 has the name ''", m->port[1].name = NULL)
LIE(port_name_dot, "which no graph can write", m->port[1].name = "out.1")
LIE(port_name_digit, "which no graph can write", m->port[1].name = "1st")
LIE(port_dir, "direction 7", m->port[0].dir = 7)
LIE(port_doc, "input 'in' has no doc", m->port[0].doc = NULL)
LIE(port_twice, "two inputs are called 'in'", m->port[1].dir = HOP_IN; m->port[1].name = "in")
LIE(port_flags, "input 'in' has unknown flag bits 0x10", m->port[0].flags = 1u << 4)
LIE(port_any_out, "only inputs can have", m->port[1].flags = HOP_PORT_ANY)
LIE(port_mem, "kinds of memory", m->port[0].mem = 0)
LIE(port_mem_bit, "0x8 where kinds of memory", m->port[0].mem = 8)
LIE(port_batch, "min_batch 5 above max_batch 2", m->port[0].min_batch = 5; m->port[0].max_batch = 2)
LIE(port_batch_huge, "batch or keeps above", m->port[0].max_batch = UINT32_MAX)
LIE(port_keeps, "output 'out' keeps messages", m->port[1].keeps = 1)
LIE(port_align, "alignment 24", m->port[1].align = 24)
LIE(port_reserved, "reserved field", m->port[0].reserved = 1)
LIE(port_array_first, "follows the port array 'in'", m->port[0].flags = HOP_PORT_MANY;
    m->port[1].dir = HOP_IN; m->port[1].name = "second")

LIE(param_name, "parameter number 0 has the name", m->param[0].name = NULL)
LIE(param_twice, "two parameters are called 'gain'", m->param[1].name = "gain")
LIE(param_doc, "parameter 'n' has no doc", m->param[1].doc = "")
LIE(param_type, "unknown type 99", m->param[1].type = 99)
LIE(param_flags, "'n' has unknown flag bits 0x2", m->param[1].flags = 2)
LIE(param_width, "'n' is 4 bytes wide; type int takes 8", m->param[1].width = 4)
LIE(param_aligned, "offset 4, which is not aligned to 8", m->param[1].offset = 4)
LIE(param_outside, "ends at byte 24, but params_size is 16", m->param[1].offset = 16)
LIE(param_far, "ends at byte 4294967296", m->param[1].offset = UINT32_MAX - 7)
LIE(param_overlap, "'gain' and 'n' overlap", m->param[1].offset = 0)
LIE(param_def, "default of parameter n", m->param[1].def = "many")
LIE(param_def_range, "11 is above the maximum 10", m->param[1].def = "11")
LIE(param_min, "its minimum cannot be read", m->param[1].min = "few")
LIE(param_max, "its maximum cannot be read", m->param[1].max = "10 Hz")
LIE(param_cross, "minimum 20 is above its maximum 10", m->param[1].min = "20")
LIE(param_choices, "has choices, which type int cannot",
    static const char *const c[] = { "a", NULL };
    m->param[1].choices = c)
LIE(choice_none, "needs 1 to 255 choices",
    m->param[1] = (struct hop_param){
	    .name = "n", .doc = "x", .type = HOP_P_CHOICE, .offset = 8, .width = 4 })
LIE(choice_twice, "lists the choice 'a' twice", static const char *const c[] = { "a", "a", NULL };
    m->param[1] = (struct hop_param){
	    .name = "n", .doc = "x", .type = HOP_P_CHOICE, .offset = 8, .width = 4, .choices = c })
LIE(choice_def, "has no choice 'b'", static const char *const c[] = { "a", NULL };
    m->param[1] = (struct hop_param){ .name = "n",
				      .doc = "x",
				      .type = HOP_P_CHOICE,
				      .offset = 8,
				      .width = 4,
				      .choices = c,
				      .def = "b" })
LIE(text_range, "has a range, which type text cannot",
    m->param[1] = (struct hop_param){
	    .name = "n", .doc = "x", .type = HOP_P_TEXT, .offset = 8, .width = 8, .min = "1" })

LIE(counter_name, "counter number 0 has the name", m->counter[0].name = NULL)
LIE(counter_doc, "counter 'bad' has no doc", m->counter[0].doc = NULL)
LIE(counter_level, "unknown level 9", m->counter[0].level = 9)
LIE(counter_twice, "two counters are called 'bad'", m->counter[1] = m->counter[0];
    m->op.counters.count = 2)

LIE(axis_name, "axis number 0 has the name", m->axis[0].name = NULL)
LIE(axis_doc, "axis 'row' has no doc", m->axis[0].doc = NULL)
LIE(axis_twice, "two axes are called 'row'", m->axis[1] = m->axis[0]; m->op.axes.count = 2)
LIE(axis_in, "runs along input 3; there are 1", m->axis[0].in_port = 3)
LIE(axis_out, "runs along output 1; there are 1", m->axis[0].out_port = 1)
LIE(axis_dim, "dimension above 7", m->axis[0].in_dim = 8)
LIE(axis_reserved, "axis 'row' has a reserved field", m->axis[0].reserved = 1)
LIE(axes_count, "it has 5 axes", m->op.axes.count = 5)
LIE(after_zero, "wait for itself", m->after[0].d[0] = 0)
LIE(after_axis, "uses axis 2; there are 1", m->after[0].d[2] = 1)
